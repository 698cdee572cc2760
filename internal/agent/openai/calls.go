package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/agent"
)

// calls grow from fragments, which servers number and name in more ways than one.
type calls struct {
	list []*growing
}

type growing struct {
	index     *int
	id, name  string
	arguments strings.Builder
}

// add puts a fragment where it belongs.
func (c *calls) add(f fragment) {
	call := c.find(f)
	if call == nil {
		call = &growing{index: f.Index}
		c.list = append(c.list, call)
	}
	if call.id == "" {
		call.id = f.ID
	}
	if call.name == "" {
		call.name = f.Function.Name // some repeat it with every fragment
	}
	call.arguments.WriteString(f.arguments())
}

// find returns the call that a fragment goes on with, nil if it begins one.
func (c *calls) find(f fragment) *growing {
	for i := len(c.list) - 1; i >= 0; i-- { // of several with one number, the last
		call := c.list[i]
		if f.Index != nil && call.index != nil && *f.Index != *call.index {
			continue
		}
		if f.begins(call) {
			return nil
		}
		return call
	}
	return nil
}

// begins tells whether a fragment begins a call although it has the number of another, or none. A new id alone does not
// say so, for some servers make one up for every fragment.
func (f fragment) begins(call *growing) bool {
	switch {
	case f.Function.Name == "" || call.name == "":
		return false
	case f.ID != "" && call.id != "":
		return f.ID != call.id
	default:
		return json.Valid([]byte(call.arguments.String()))
	}
}

// finish returns the calls, with ids made up for those that have none or another's: of this turn or of the transcript.
func (c *calls) finish(transcript *agent.Transcript) []agent.ToolCall {
	used := map[string]bool{}
	for _, message := range transcript.Messages {
		for _, call := range message.Calls {
			used[call.ID] = true
		}
	}
	var finished []agent.ToolCall
	for i, call := range c.list {
		if call.name == "" && call.arguments.Len() == 0 {
			continue // a fragment that said nothing
		}
		id := call.id
		if id == "" || used[id] {
			id = fmt.Sprintf("call_%d_%d", len(transcript.Messages), i)
		}
		used[id] = true
		arguments := call.arguments.String()
		if strings.TrimSpace(arguments) == "" {
			arguments = "{}"
		}
		finished = append(finished, agent.ToolCall{ID: id, Name: call.name, Arguments: arguments})
	}
	return finished
}
