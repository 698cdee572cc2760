// Package live keeps interpreters alive between jobs: each in one container, fed with cells of code through
// the standard input of a driver and heard through its standard output.
//
// Its one invariant: what a driver says is what user code may have forged, so it is bounded, checked and believed
// for nothing but this session's own text, values and files. How an interpreter ended is sandbox-init's word.
//
// It may import internal/sandbox and internal/workspace; it knows neither Docker nor the queue.
package live
