// Package soak is a long run of everything at once: three workers, several producers, and every fault at random
// times. What happens is written to a history, and a checker reads the history afterwards.
//
// Its one invariant: the checker knows nothing but the history. Whoever has the file can judge the run again.
//
// The run itself has the build tag soak: `make soak` starts it. Only tests and the program in check import the
// package. Of ours it imports internal/jobs and what that is made of.
package soak
