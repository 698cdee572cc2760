// Package seal signs and seals what lies in Redis, with keys from files.
//
// Its one invariant: what was signed or sealed under one name passes under no other, so nothing can be put in the place of
// something else. It imports the standard library only.
package seal
