// Package cli holds what every command line program of ours needs: its version, the
// way to Redis that the configuration names, and what counts as a second signal.
//
// Its one invariant: all programs that read the same configuration reach the same Redis.
// It imports config and jobs, and never the Docker SDK.
package cli
