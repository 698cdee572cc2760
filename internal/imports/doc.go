// Package imports holds the test of who may import whom, directly or through
// others. Its one invariant is the table of that test; it has no code.
package imports
