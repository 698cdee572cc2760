// Package reaper removes what workers that died left on a Docker daemon: containers, and
// volumes that nothing uses any more.
//
// Its one invariant: it removes only what carries the label of its own installation, and of
// that only what has no living owner, seen twice, or is past its expiry and does not run. While
// Redis does not answer, or has forgotten, it removes nothing. When in doubt it keeps.
//
// It imports the Docker SDK and internal/sandbox/labels.
package reaper
