// Package faults breaks things: real workers as processes, a Redis that keeps its data and a dockerd, all of
// them a test's own, with the means to kill, freeze, cut off, fill up and restart each of them.
//
// Its one invariant: nothing of it outlives the test process, however that ends. What it starts dies with its
// parent; the dockerd and its containers live in namespaces that the kernel takes down with their first process, and
// mounts and loop devices go with them.
//
// Only tests import it. Of ours it imports internal/jobs, the names of labels and internal/testenv. It needs root, and a
// kernel with namespaces and loop devices.
//
// The matrix of faults and phases has the build tag faults: `make test-faults` runs it.
package faults
