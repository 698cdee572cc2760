package sessions

import (
	"errors"
	"fmt"
	"maps"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// talks tells whether there are live interpreters of a language. Jobs in any other run beside them, on the same files.
func talks(language sandbox.Language) bool {
	return language.Name == "python" || language.Name == "node"
}

// terms are what an interpreter was started with, which no later call can change.
type terms struct {
	limits  sandbox.Limits
	env     map[string]string
	network bool
}

// checkLive refuses what a call in an interpreter cannot have.
func (s *Sessions) checkLive(c *call) error {
	var errs []error
	asked := c.Program.Limits
	for _, one := range []struct {
		set         bool
		field, hint string
	}{
		{len(c.Program.Args) > 0, "args", "put them into the source"},
		{asked.CPUTime != nil, "limits.cpu_seconds", "use limits.wall_seconds"},
		{asked.CompileTime != nil, "limits.compile_seconds", "nothing is compiled"},
		{asked.OutputKill != nil, "limits.output_kill_bytes", "use limits.output_bytes"},
	} {
		if one.set {
			errs = append(errs, fmt.Errorf("%s: is set: want none in a live session, %s", one.field, one.hint))
		}
	}
	if len(c.source()) == 0 {
		errs = append(errs, fmt.Errorf("main: no file of the job is named %q, and there is no source", c.main()))
	}
	return errors.Join(errs...)
}

// allow refuses a call that asks for something else than what the interpreter was started with. What a call leaves
// open is as it is.
func (t terms) allow(c *call) error {
	var errs []error
	refuse := func(field string, asked, has any) {
		errs = append(errs, fmt.Errorf("%s: %v is asked for, and the live interpreter of the session was started with %v: "+
			"leave it out, or set session.restart, which loses all variables", field, asked, has))
	}
	asked, limits := c.Program.Limits, c.language.Floors.Raise(c.limits)
	differs(asked.Memory, limits.Memory, t.limits.Memory, "limits.memory_bytes", refuse)
	differs(asked.CPUs, limits.CPUs, t.limits.CPUs, "limits.cpus", refuse)
	differs(asked.PIDs, limits.PIDs, t.limits.PIDs, "limits.pids", refuse)
	differs(asked.Tmp, limits.Tmp, t.limits.Tmp, "limits.tmp_bytes", refuse)
	differs(asked.Workspace, limits.Workspace, t.limits.Workspace, "limits.workspace_bytes", refuse)
	differs(asked.OpenFiles, limits.OpenFiles, t.limits.OpenFiles, "limits.open_files", refuse)
	if len(c.Program.Env) > 0 && !maps.Equal(c.Program.Env, t.env) {
		refuse("env", "another one", "its own")
	}
	if c.Program.Network && !t.network {
		refuse("network", "one", "none")
	}
	return errors.Join(errs...)
}

func differs[T comparable](asked *T, wanted, has T, field string, refuse func(field string, asked, has any)) {
	if asked != nil && wanted != has {
		refuse(field, wanted, has)
	}
}
