package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/openai"
	"github.com/sandloop/sandloop/internal/agent/script"
	"github.com/sandloop/sandloop/internal/cli"
)

// modelFlags say who works on the task.
type modelFlags struct {
	provider, model, baseURL, script string
	images                           bool
}

func (f *modelFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.provider, "provider", "", "`NAME` of the provider: anthropic, openai (and what speaks like it) or script\n(default: script with --script, openai with --base-url, else whose key is set: the first of "+keyList()+")")
	flags.StringVar(&f.model, "model", "", "`NAME` of the model (default: "+modelNames()+")")
	flags.StringVar(&f.baseURL, "base-url", "", "`URL` of the provider, such as http://127.0.0.1:11434/v1 of an Ollama (default: the provider's own)")
	flags.BoolVar(&f.images, "images", false, "show figures to the model at --base-url, which must be one that sees (those at the providers' own do)")
	flags.StringVar(&f.script, "script", "", "`FILE` of turns that a scripted model plays; it may hold the task too")
}

// chosen is a model and what it is called.
type chosen struct {
	agent.Model
	provider, name string
	// task is the script's, for a command line that has none.
	task string
}

// choose makes the model. Every error is the user's to mend.
func (f *modelFlags) choose(getenv func(string) string) (*chosen, error) {
	name, err := f.providerName(getenv)
	if err != nil {
		return nil, cli.UsageError(err)
	}
	if name == script.Name {
		return f.scripted()
	}
	if f.script != "" {
		return nil, cli.Usagef("--script %s: a script is played by --provider script and not by %s", f.script, name)
	}
	row := providerNamed(name)
	model := f.model
	if model == "" && f.baseURL != "" {
		return nil, cli.Usagef("--model: name the model that the server at --base-url has")
	}
	if model == "" {
		model = row.model
	}
	key := strings.TrimSpace(getenv(row.key))
	if key == "" && (row.needsKey || f.baseURL == "") {
		return nil, cli.Usagef("%s is not set: %s needs a key, which comes from the environment", row.key, name)
	}
	made, err := row.connect(access{key: key, baseURL: f.baseURL, model: model, images: f.images || f.baseURL == ""})
	if err != nil {
		return nil, cli.UsageError(err)
	}
	return &chosen{Model: made, provider: name, name: model}, nil
}

// providerName tells the provider by the flags or else by the keys that there are.
func (f *modelFlags) providerName(getenv func(string) string) (string, error) {
	switch {
	case f.provider == script.Name || providerNamed(f.provider) != nil:
		return f.provider, nil
	case f.provider != "":
		return "", fmt.Errorf("--provider: %q is unknown: want one of anthropic, openai, script", f.provider)
	case f.script != "":
		return script.Name, nil
	case f.baseURL != "": // never the key of another provider to a server of the user's own
		return openai.Name, nil
	}
	for _, row := range providers {
		if strings.TrimSpace(getenv(row.key)) != "" {
			return row.name, nil
		}
	}
	return "", fmt.Errorf("there is no model: set %s, or\nname a local server with --base-url http://127.0.0.1:11434/v1 --model NAME, or\nplay a script with --script FILE", keyNames())
}

func (f *modelFlags) scripted() (*chosen, error) {
	if f.script == "" {
		return nil, cli.Usagef("--provider script: name the file with --script")
	}
	if f.model != "" || f.baseURL != "" {
		return nil, cli.Usagef("--script: a script has neither --model nor --base-url")
	}
	played, err := script.Load(f.script)
	if err != nil {
		return nil, cli.UsageError(err)
	}
	return &chosen{Model: script.NewModel(played), provider: script.Name, name: script.Name, task: played.Task}, nil
}
