package toolbox

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/sandloop/sandloop/internal/agent"
)

// Toolbox implements agent.Tools. It is safe for concurrent use.
type Toolbox struct {
	options Options
	tools   []tool
	// turn has room for one: the calls that use a session run one after the other, in this process without waiting for
	// the lease.
	turn chan struct{}
	// background counts what still reads from Redis for a call that has ended.
	background sync.WaitGroup

	// mu guards submitted.
	mu sync.Mutex
	// submitted are the jobs of submit_job that this Toolbox knows of, by id.
	submitted map[string]submitted
}

var _ agent.Tools = (*Toolbox)(nil)

// New makes a Toolbox. It does nothing before the first call.
func New(options Options) *Toolbox {
	t := &Toolbox{options: options.withDefaults(), turn: make(chan struct{}, 1), submitted: map[string]submitted{}}
	t.tools = append(t.tools, t.runTools()...)
	if t.options.Session != "" {
		t.tools = append(t.tools, t.fileTools()...)
	}
	t.tools = append(t.tools, t.jobTools()...)
	return t
}

// Close waits until nothing of the calls that have ended uses the queue any more, about a second at most. Jobs of
// submit_job go on.
func (t *Toolbox) Close() { t.background.Wait() }

// Specs describes the tools.
func (t *Toolbox) Specs() []agent.ToolSpec {
	specs := make([]agent.ToolSpec, len(t.tools))
	for i, tool := range t.tools {
		specs[i] = tool.spec
	}
	return specs
}

// Call runs a tool.
func (t *Toolbox) Call(ctx context.Context, call agent.ToolCall, progress func(agent.Progress)) (result agent.ToolResult) {
	defer func() {
		if problem := recover(); problem != nil {
			result = problemf("the tool %s failed in itself (%v at %s). This is not your doing: try once more, or do without it", call.Name, problem, firstFrame(debug.Stack()))
		}
		result.CallID, result.Name = call.ID, call.Name
	}()
	names := make([]string, len(t.tools))
	for i, tool := range t.tools {
		if tool.spec.Name == call.Name {
			return t.traced(ctx, tool, call, progress)
		}
		names[i] = tool.spec.Name
	}
	return problemf("there is no tool %q. The tools are %s", call.Name, strings.Join(names, ", "))
}

// problemf is the result of a call that did not do what was asked.
func problemf(format string, args ...any) agent.ToolResult {
	return agent.ToolResult{IsError: true, Text: "[" + fmt.Sprintf(format, args...) + "]"}
}

// firstFrame finds our own line in the stack of a panic.
func firstFrame(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") && i+3 < len(lines) {
			return strings.TrimSpace(lines[i+3])
		}
	}
	return "an unknown place"
}
