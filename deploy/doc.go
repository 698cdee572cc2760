// Package deploy holds docs/metrics.md to what a worker exports. deploy/check, a module of its own, holds the dashboard,
// the alerts and the scaling to that page.
package deploy
