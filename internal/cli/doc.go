// Package cli holds what every command line program of ours needs: its version and exit codes, the
// way to Redis that the configuration names, what signals do, and what protects a terminal and a folder
// of the user from what a program wrote.
//
// Its one invariant: all programs that read the same configuration reach the same Redis.
// It imports config, jobs and sandbox, and never the Docker SDK.
package cli
