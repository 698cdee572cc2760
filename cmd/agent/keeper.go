package main

import (
	"github.com/sandloop/sandloop/internal/agent"
)

// keeper saves the transcript of a run whenever it has grown.
type keeper struct {
	// path is the file, empty for none.
	path string
	// provider and session are written into it.
	provider, session string
	// failed is why it was not saved last.
	failed error
}

// hear saves after every turn of the model, after the results of its calls and at the end.
func (k *keeper) hear(e agent.Event) {
	if e.Transcript != nil {
		k.save(*e.Transcript)
	}
}

// save writes the transcript. It is a copy, since the run goes on with its own.
func (k *keeper) save(t agent.Transcript) {
	if k.path == "" {
		return
	}
	t.Provider, t.Session = k.provider, k.session
	k.failed = t.Save(k.path)
}
