// Package embedded serves a Redis inside this process, so that sandloop can be tried on
// a laptop without installing anything.
//
// Its one invariant: it listens on the loopback interface only, since it asks for no
// password. Nothing that it holds survives the process, and it says so when it starts.
//
// It imports miniredis and nothing of ours.
package embedded
