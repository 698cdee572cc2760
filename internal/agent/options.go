package agent

import (
	"cmp"
	"time"
)

// Options bound a run and say who watches it. The zero value of each field but Tools is usable.
type Options struct {
	// Tools are what the model may use; nil is none.
	Tools Tools
	// MaxIterations bounds the turns of the model, DefaultMaxIterations when 0.
	MaxIterations int
	// WallTime bounds the run by the clock, DefaultWallTime when 0.
	WallTime time.Duration
	// MaxTokens bounds the tokens of the run as far as the provider reports them; no further turn begins above it. 0 is no bound.
	MaxTokens int64
	// System is the instruction before everything, DefaultSystem when empty.
	System string
	// Resume, if not nil, is a transcript to go on with. It is not changed.
	Resume *Transcript
	// Observer, if not nil, hears of everything, one call at a time.
	Observer func(Event)
	// MaxParallel is how many calls of a turn run at the same time, DefaultMaxParallel when 0.
	MaxParallel int
	// ResultLimit is the size in bytes of a result's text above which its middle is left out, DefaultResultLimit when 0.
	ResultLimit int
}

// The defaults of Options.
const (
	DefaultMaxIterations = 10
	DefaultWallTime      = 10 * time.Minute
	DefaultMaxParallel   = 8
	DefaultResultLimit   = 64 << 10
)

// DefaultSystem tells a model what it is here for.
const DefaultSystem = `You solve tasks by running code in a sandbox through your tools. The sandbox has no network, and nothing can be installed in it.
Run code instead of guessing what it would do. Every result says what happened: the output, and notes in square brackets about limits that were hit.
When something fails, read the error and the notes, repair the cause and run it again. When the task is done, answer in plain text and call no tool.`

func (o Options) withDefaults() Options {
	o.MaxIterations = cmp.Or(o.MaxIterations, DefaultMaxIterations)
	o.WallTime = cmp.Or(o.WallTime, DefaultWallTime)
	o.System = cmp.Or(o.System, DefaultSystem)
	o.MaxParallel = cmp.Or(o.MaxParallel, DefaultMaxParallel)
	o.ResultLimit = cmp.Or(o.ResultLimit, DefaultResultLimit)
	if o.Observer == nil {
		o.Observer = func(Event) {}
	}
	if o.Tools == nil {
		o.Tools = noTools{}
	}
	return o
}
