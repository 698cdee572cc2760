// Package sandbox is the contract between those who want untrusted code run and
// those who run it: what a [Program] is, which [Limits] bind it, and what a
// [Result] says about it.
//
// Its one invariant: whatever a program does is a Result. An error beside it
// means that our own machinery failed and that the program is not to blame.
//
// It imports the standard library only, so that the code inside the sandbox can
// use it too.
package sandbox
