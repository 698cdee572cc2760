package sessions

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// everything is the pattern of all files in /workspace.
const everything = "**"

// runPlain runs a job in a container of its own.
func (s *Sessions) runPlain(ctx context.Context, c *call) (sandbox.Result, *workspace.Report, error) {
	before, err := c.lease.Files(ctx)
	if err != nil {
		return sandbox.Result{}, nil, err
	}
	program, source := s.layOut(c, before)
	if err := workspace.Check(program.Files); err != nil {
		return sandbox.Result{}, nil, err
	}
	result, err := s.options.Runner.Run(ctx, program)
	if err != nil {
		return sandbox.Result{}, nil, err
	}
	left := result
	result.Files, result.RefusedFiles = c.wanted(left.Files, left.RefusedFiles)
	report := &workspace.Report{Version: c.lease.Head.Version}
	switch {
	case result.Outcome == sandbox.OutcomeCanceled || result.Outcome == sandbox.OutcomeRejected || result.Outcome == sandbox.OutcomeInfraError:
		return result, report, nil
	case !left.Collected:
		report.Refused = []sandbox.RefusedFile{lostFiles}
		return result, report, nil
	}
	report.Refused = left.RefusedFiles
	if slices.ContainsFunc(report.Refused, overLimit) {
		report.Refused = append(report.Refused, nothingKept)
		return result, report, nil
	}
	err = s.commit(ctx, c, before, remains(before, left, source), result, report)
	return result, report, err
}

// lostFiles is why nothing is kept of a program that took its sandbox with it.
var lostFiles = sandbox.RefusedFile{Path: ".", Reason: "the sandbox was lost with all its files: no change of this job is kept"}

// nothingKept is what it means that files were refused for a limit.
var nothingKept = sandbox.RefusedFile{Path: ".", Reason: "files were too many or too large: no change of this job is kept", Limit: true}

func overLimit(file sandbox.RefusedFile) bool { return file.Limit }

// layOut puts the files of the session under the job's own, and returns the source as a file of its own, whose path is
// empty if the job has none. All that is in /workspace comes back.
func (s *Sessions) layOut(c *call, before []sandbox.File) (program sandbox.Program, source sandbox.File) {
	program = c.Program
	own := slices.Clone(program.Files)
	if len(program.Source) > 0 {
		source = sandbox.File{Path: c.main(), Data: program.Source}
		// A program that is told to import or to read the session's file of that name must not find itself. Where
		// names have a meaning, as in Java, the source stands in its place for this one run.
		if program.Main == "" && len(c.language.Compile) == 0 {
			source.Path = freeName(source.Path, before)
		}
		program.Main, program.Source = source.Path, nil
		own = append(own, source)
	}
	program.Files = workspace.Apply(before, own, nil)
	program.Outputs = []string{everything}
	most := s.options.Maxima
	program.Limits.FilesIn, program.Limits.InputBytes = &most.FilesIn, &most.InputBytes
	count, size := min(s.options.MaxFiles+1, most.FilesOut), min(s.options.Quota+int64(len(source.Data)), most.FileBytes)
	program.Limits.FilesOut, program.Limits.FileBytes = &count, &size
	return program, source
}

// freeName returns a name, or one like it, that no file and no folder has.
func freeName(name string, files []sandbox.File) string {
	extension := path.Ext(name)
	free := name
	taken := func(file sandbox.File) bool { return file.Path == free || strings.HasPrefix(file.Path, free+"/") }
	for n := 1; slices.ContainsFunc(files, taken); n++ {
		free = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, extension), n, extension)
	}
	return free
}

// remains is what a session has after a job that left these files. The source is none of them, unless the program
// wrote over it, and of what was refused, which can be a folder that cannot be read, the session keeps what it had.
func remains(before []sandbox.File, left sandbox.Result, source sandbox.File) []sandbox.File {
	after := slices.Clone(left.Files)
	kept := left.RefusedFiles
	if source.Path != "" {
		after = slices.DeleteFunc(after, func(file sandbox.File) bool {
			return file.Path == source.Path && bytes.Equal(file.Data, source.Data)
		})
		kept = append(slices.Clone(kept), sandbox.RefusedFile{Path: source.Path})
	}
	old := slices.DeleteFunc(slices.Clone(before), func(file sandbox.File) bool {
		return !slices.ContainsFunc(kept, func(refused sandbox.RefusedFile) bool {
			return refused.Path == "." || file.Path == refused.Path || strings.HasPrefix(file.Path, refused.Path+"/")
		})
	})
	return workspace.Apply(old, after, nil)
}
