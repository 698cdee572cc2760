package sandbox

import "fmt"

// Prepared is a program with everything decided that can be decided before it runs.
type Prepared struct {
	Language Language
	Limits   Limits
	Plan     Plan
	// Files holds all files for the workspace, the main file included.
	Files []File
}

// Prepare looks up the language, resolves and checks the limits, raises them to the
// language's floors and checks the program. Every error is the job's own: it asks for
// what this installation does not do.
func (t *Languages) Prepare(p Program, defaults, maxima Limits) (Prepared, error) {
	language, err := t.Lookup(p.Language)
	if err != nil {
		return Prepared{}, err
	}
	limits, err := p.Limits.Resolve(defaults, maxima)
	if err != nil {
		return Prepared{}, err
	}
	limits = language.Floors.Raise(limits)
	if p.Hold > 0 {
		limits.WallTime, limits.CPUTime, limits.OutputKill = p.Hold, limits.CPUTimeWithin(p.Hold), 0
	}
	if limits.Memory > maxima.Memory || limits.PIDs > maxima.PIDs {
		return Prepared{}, fmt.Errorf("language %s needs %d bytes of memory and %d processes: at most %d and %d are allowed here",
			language.Name, limits.Memory, limits.PIDs, maxima.Memory, maxima.PIDs)
	}
	if err := p.Validate(limits); err != nil {
		return Prepared{}, err
	}
	prepared := Prepared{Language: language, Limits: limits, Plan: language.Plan(p, limits), Files: p.Files}
	hasMain := false
	for _, file := range p.Files {
		hasMain = hasMain || file.Path == prepared.Plan.Main
	}
	switch {
	case len(p.Source) > 0 && hasMain:
		return Prepared{}, fmt.Errorf("files: %q is given both as source and as a file", prepared.Plan.Main)
	case len(p.Source) > 0:
		prepared.Files = append([]File{{Path: prepared.Plan.Main, Data: p.Source}}, p.Files...)
	case !hasMain:
		return Prepared{}, fmt.Errorf("main: no file is named %q", prepared.Plan.Main)
	}
	return prepared, nil
}
