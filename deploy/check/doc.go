// Package check holds the files of deploy/ to what reads them: the types of Kubernetes and of KEDA's definition, the loader
// of docker stack deploy, the parser of Prometheus; and to each other, to docs/ and to the default configuration.
//
// Its one invariant: a file that passes is one that an operator can apply once the names in it are theirs.
//
// It is all tests, in a module of its own, so that nothing of this becomes a dependency of sandloop. It may
// import anything but sandloop; internal/metrics and config hold docs/metrics.md and the settings to the code.
package check
