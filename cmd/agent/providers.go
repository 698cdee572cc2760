package main

import (
	"strings"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/anthropic"
	"github.com/sandloop/sandloop/internal/agent/openai"
)

// provider is a row of the table of those who have models.
type provider struct {
	name string
	// key is the environment variable with the key.
	key string
	// needsKey tells that no address of it works without a key.
	needsKey bool
	// model is the one that is asked when nobody names another.
	model   string
	connect func(access) (agent.Model, error)
}

// access is what an adapter needs to know.
type access struct {
	key, baseURL, model string
	// images tells that the model sees, where that depends on the model.
	images bool
}

// providers are in the order in which their keys are looked for.
var providers = []provider{
	{anthropic.Name, "ANTHROPIC_API_KEY", true, "claude-sonnet-5-5", func(a access) (agent.Model, error) {
		return anthropic.New(anthropic.Options{Key: a.key, BaseURL: a.baseURL, Model: a.model})
	}},
	{openai.Name, "OPENAI_API_KEY", false, "gpt-5.5", func(a access) (agent.Model, error) {
		return openai.New(openai.Options{Key: a.key, BaseURL: a.baseURL, Model: a.model, Images: a.images})
	}},
}

// providerNamed returns the row, or nil.
func providerNamed(name string) *provider {
	for i := range providers {
		if providers[i].name == name {
			return &providers[i]
		}
	}
	return nil
}

// each joins what a function says of every provider.
func each(separator string, say func(provider) string) string {
	words := make([]string, 0, len(providers))
	for _, row := range providers {
		words = append(words, say(row))
	}
	return strings.Join(words, separator)
}

// keyNames is for what needs one of the keys, and keyList for their order.
func keyNames() string { return each(" or ", func(p provider) string { return p.key }) }

func modelNames() string {
	return each(", ", func(p provider) string { return p.model + " of " + p.name })
}

func keyList() string { return each(", ", func(p provider) string { return p.key }) }
