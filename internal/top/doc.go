// Package top is the live view of an installation: its queues, the tenants of a queue, its workers.
//
// Its one invariant: what it shows is a function of what was read last and the keys that were pressed, and no text from Redis
// reaches a terminal before it is harmless.
//
// It imports internal/jobs for what is shown, internal/cli, and bubbletea, which only cmd/enqueue may link.
package top
