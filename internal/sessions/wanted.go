package sessions

import (
	"fmt"
	"slices"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// maxRefused bounds the list of files that do not come back.
const maxRefused = 100

// wanted picks from the files of a workspace, which are in order, those that the job's Outputs ask for, within the job's limits.
func (c *call) wanted(files []sandbox.File, refused []sandbox.RefusedFile) (back []sandbox.File, without []sandbox.RefusedFile) {
	if len(c.Program.Outputs) == 0 {
		return nil, nil
	}
	for _, file := range refused {
		if file.Path == "." || c.asksFor(file.Path) {
			without = append(without, file)
		}
	}
	left := c.limits.FileBytes
	for _, file := range files {
		size := int64(len(file.Data))
		switch {
		case !c.asksFor(file.Path):
		case len(back) >= c.limits.FilesOut:
			without = append(without, sandbox.RefusedFile{Path: file.Path, Reason: fmt.Sprintf("more than %d files match", c.limits.FilesOut), Limit: true})
		case size > left:
			without = append(without, sandbox.RefusedFile{
				Path: file.Path, Reason: fmt.Sprintf("has %d bytes: %d are left of the %d that all files may have", size, left, c.limits.FileBytes), Limit: true,
			})
		default:
			back, left = append(back, file), left-size
		}
	}
	if more := len(without) - maxRefused; more > 0 {
		without = append(without[:maxRefused:maxRefused], sandbox.RefusedFile{Path: ".", Reason: fmt.Sprintf("%d more were refused", more), Limit: true})
	}
	return back, without
}

// asksFor tells whether one of the job's Outputs matches a path.
func (c *call) asksFor(name string) bool {
	return slices.ContainsFunc(c.Program.Outputs, func(pattern string) bool { return sandbox.MatchPattern(pattern, name) })
}
