// Package attack is the suite of attacks on the sandbox: a list of hostile programs in attacks/ and of checks in Go, what has to be
// seen of each, and the table of what became of them.
//
// Its one invariant: an attack that was not run is never called stopped, and one that got what it wanted is not either, whatever
// it said itself.
//
// Only tests run it, with the build tag attack, through `make attack`. The list and the table need neither containers nor the
// tag. Of ours it imports internal/sandbox; its tests import whatever is attacked.
package attack
