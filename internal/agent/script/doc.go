// Package script plays a model from a list of turns, so that a loop can be shown and tested with real tools and without a
// provider.
//
// Its one invariant: what a turn expects of the results before it is checked, so a script that plays to its end has seen
// what its author saw.
//
// It may import internal/agent and a YAML library.
package script
