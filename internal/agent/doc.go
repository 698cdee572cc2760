// Package agent runs a loop in which a language model works on a task with tools: turns of the model and
// calls of tools alternate until the model answers without a call.
//
// Its one invariant: nothing raises into the loop. Whatever goes wrong with a call is a tool result that tells the
// model what to do next, and whatever ends a run leaves its transcript.
//
// It knows no provider, no queue and no tool, only [Model] and [Tools]. It may import the standard library and
// internal/sandbox.
package agent
