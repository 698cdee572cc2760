// Package provider is what the adapters to model providers have in common: where requests go, what the answers of HTTP
// mean for a run, and how parts of a transcript are made fit for a provider's rules.
//
// Its one invariant: the key goes to the configured address alone, and is in no error. It may import the standard
// library and internal/agent, and knows no provider's wire format.
package provider
