package toolbox

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// The values of the argument encoding.
const (
	encodingText   = "text"
	encodingBase64 = "base64"
)

const (
	// writeWait is how long a file waits for a job that has the session.
	writeWait = 10 * time.Second
	// listedFiles bounds the list of files.
	listedFiles = 500
)

// fileTools are the tools for the files of the session.
func (t *Toolbox) fileTools() []tool {
	return []tool{
		newTool("write_file", describeWriteFile, encodings, t.writeFile),
		newTool("read_file", describeReadFile, all(notEmpty("path"), func(s *jsonschema.Schema) {
			for _, name := range []string{"offset", "limit"} {
				s.Properties[name].Minimum = jsonschema.Ptr(1.0)
			}
			s.Properties["limit"].Maximum = jsonschema.Ptr(float64(maxLines))
		}), t.readFile),
		newTool("list_files", describeListFiles, nil, t.listFiles),
	}
}

// decodeFiles makes files of arguments. The error names the one that is wrong.
func decodeFiles(arguments []fileArgument) ([]sandbox.File, error) {
	var files []sandbox.File
	for i, argument := range arguments {
		file, err := argument.file()
		if err != nil {
			return nil, fmt.Errorf("files[%d].%w", i, err)
		}
		files = append(files, file)
	}
	return files, nil
}

func (a fileArgument) file() (sandbox.File, error) {
	data := []byte(a.Content)
	if a.Encoding == encodingBase64 {
		var err error
		if data, err = base64.StdEncoding.DecodeString(strings.TrimSpace(a.Content)); err != nil {
			return sandbox.File{}, fmt.Errorf("content is no base64 (%w): want base64 or another encoding", err)
		}
	}
	return sandbox.File{Path: below(a.Path), Data: data}, nil
}

// below makes a path relative to /workspace, as models like to write it in either way.
func below(name string) string {
	if name == "/workspace" {
		return "."
	}
	if rest, inside := strings.CutPrefix(name, "/workspace/"); inside {
		name = rest
	}
	return path.Clean(name)
}

func (t *Toolbox) writeFile(ctx context.Context, a fileArgument, _ func(agent.Progress)) agent.ToolResult {
	file, err := a.file()
	if err != nil {
		return problemf("nothing was written: %v. Call again with that repaired", err)
	}
	if err := sandbox.CheckFiles([]sandbox.File{file}); err != nil {
		return problemf("nothing was written: %s. Call again with a relative path below /workspace, such as data/input.csv", strings.TrimPrefix(oneLine(err), "files[0]."))
	}
	_, err = t.options.Workspace.Write(ctx, t.options.session(), []sandbox.File{file}, nil, writeWait)
	var quota *workspace.QuotaError
	switch {
	case err == nil:
		return agent.ToolResult{Text: fmt.Sprintf("[%s is written: %d bytes]", file.Path, len(file.Data))}
	case errors.As(err, &quota):
		return problemf("nothing was written: %v. Delete files that are not needed any more, with run_command or run_code, and write again", quota)
	case errors.Is(err, workspace.ErrBusy):
		return problemf("nothing was written, since a job has the workspace. Wait until it has ended, with wait_job if you submitted it, and write again")
	}
	return t.workspaceProblem(ctx, "nothing was written", err)
}

// workspaceProblem is the result when the store of files failed.
func (t *Toolbox) workspaceProblem(ctx context.Context, what string, err error) agent.ToolResult {
	switch {
	case ctx.Err() != nil:
		return problemf("%s, since the run was ended", what)
	case errors.Is(err, workspace.ErrDamaged):
		return problemf("%s: the stored files of the session are damaged. Say so in your answer: somebody must delete the session", what)
	}
	return problemf("%s, since the files of the session cannot be reached (%s). This is not your doing: try once more; if it stays so, say in your answer that the sandbox is out of order", what, oneLine(err))
}

// all files of the session; one that does not exist yet has none.
func (t *Toolbox) files(ctx context.Context) ([]sandbox.File, error) {
	files, err := t.options.Workspace.Files(ctx, t.options.session())
	if errors.Is(err, workspace.ErrNotFound) {
		return nil, nil
	}
	return files, err
}

func (t *Toolbox) listFiles(ctx context.Context, _ noArguments, _ func(agent.Progress)) agent.ToolResult {
	files, err := t.files(ctx)
	if err != nil {
		return t.workspaceProblem(ctx, "the files cannot be listed", err)
	}
	if len(files) == 0 {
		return agent.ToolResult{Text: "[the workspace has no files]"}
	}
	slices.SortFunc(files, func(a, b sandbox.File) int { return cmp.Compare(a.Path, b.Path) })
	var text strings.Builder
	for _, file := range files[:min(len(files), listedFiles)] {
		fmt.Fprintf(&text, "%9d  %s\n", len(file.Data), visible(file.Path))
	}
	if more := len(files) - listedFiles; more > 0 {
		fmt.Fprintf(&text, "[%d more files are not listed]\n", more)
	}
	fmt.Fprintf(&text, "[sizes are in bytes]")
	return agent.ToolResult{Text: text.String()}
}

// visible quotes a name that holds what cannot be seen.
func visible(name string) string {
	if quoted := fmt.Sprintf("%q", name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
