package toolbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestFilesAreWrittenReadAndListed(t *testing.T) {
	t.Parallel()
	files := &fakeWorkspace{}
	box, _ := setup(t, inSession(), func(o *Options) { o.Workspace = files })
	require.Equal(t, "[the workspace has no files]", call(t, box, "list_files", object{}, nil).Text)
	require.Equal(t, "[a/b.txt is written: 4 bytes]", call(t, box, "write_file", object{"path": "/workspace/a/b.txt", "content": "one\n"}, nil).Text)
	require.Equal(t, "[empty is written: 0 bytes]", call(t, box, "write_file", object{"path": "empty", "content": ""}, nil).Text)
	require.Equal(t, "[p.png is written: 8 bytes]", call(t, box, "write_file", object{"path": "./p.png", "content": "iVBORw0KGgo=", "encoding": "base64"}, nil).Text)
	require.Equal(t, "        4  a/b.txt\n        0  empty\n        8  p.png\n[sizes are in bytes]", call(t, box, "list_files", ``, nil).Text)

	require.Equal(t, "one\n", call(t, box, "read_file", object{"path": "/workspace/a/b.txt"}, nil).Text)
	require.Equal(t, "[empty is empty]", call(t, box, "read_file", object{"path": "empty"}, nil).Text)
	got := call(t, box, "read_file", object{"path": "p.png"}, nil)
	require.Equal(t, "[p.png is attached: image/png, 8 bytes]", got.Text)
	require.Equal(t, []agent.Image{{Path: "p.png", MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}, got.Images)
	require.Equal(t, workspace.Session{Tenant: "alice", Name: "s1"}, files.sessions[0])
}

func TestAFileThatIsNotThere(t *testing.T) {
	t.Parallel()
	box, _ := setup(t, inSession(sandbox.File{Path: "a/b.txt"}, sandbox.File{Path: "c\n"}))
	for path, want := range map[string]string{
		"x":          `[there is no file x. There are a/b.txt, "c\n"]`,
		"a":          `[there is no file a: it is a folder, with a/b.txt]`,
		"/etc/shell": `[there is no file /etc/shell. There are a/b.txt, "c\n"]`,
	} {
		got := call(t, box, "read_file", object{"path": path}, nil)
		require.True(t, got.IsError)
		require.Equal(t, want, got.Text)
	}
	empty, _ := setup(t, inSession(), func(o *Options) { o.Workspace = &fakeWorkspace{err: workspace.ErrNotFound} })
	require.Equal(t, "[there is no file x, since the workspace has no files]", call(t, empty, "read_file", object{"path": "x"}, nil).Text)
	require.Equal(t, "[the workspace has no files]", call(t, empty, "list_files", object{}, nil).Text)
}

func TestLongFilesAreReadInParts(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "%04d\n", i+1)
	}
	wide := strings.Repeat("é", 1500) + "\nshort"
	box, _ := setup(t, inSession(sandbox.File{Path: "long", Data: []byte(lines.String())}, sandbox.File{Path: "wide", Data: []byte(wide)},
		sandbox.File{Path: "large", Data: []byte(strings.Repeat(strings.Repeat("x", 1023)+"\n", 100))}))
	got := call(t, box, "read_file", object{"path": "long"}, nil).Text
	require.True(t, strings.HasPrefix(got, "0001\n0002\n"))
	require.True(t, strings.HasSuffix(got, "2000\n[lines 1 to 2000 of 5000 of long; the next begins at offset 2001]"), got[len(got)-100:])
	require.Equal(t, "4999\n5000\n[lines 4999 to 5000 of 5000 of long]", call(t, box, "read_file", object{"path": "long", "offset": 4999}, nil).Text)
	require.Equal(t, "0007\n0008\n[lines 7 to 8 of 5000 of long; the next begins at offset 9]", call(t, box, "read_file", object{"path": "long", "offset": 7.0, "limit": 2}, nil).Text)
	over := call(t, box, "read_file", object{"path": "long", "offset": 5001}, nil)
	require.True(t, over.IsError)
	require.Equal(t, "[long has 5000 lines, so there is no line 5001. Call again with a smaller offset]", over.Text)
	require.Equal(t, strings.Repeat("é", 1000)+"...\nshort\n[lines 1 to 2 of 2 of wide; 1 lines are longer than 2000 bytes and were cut, read those with code]", call(t, box, "read_file", object{"path": "wide"}, nil).Text)
	require.True(t, strings.HasSuffix(call(t, box, "read_file", object{"path": "large"}, nil).Text, "[lines 1 to 32 of 100 of large; the next begins at offset 33]"), "32 KiB are 32 lines")
}

func TestBinaryFilesAreDescribed(t *testing.T) {
	t.Parallel()
	box, _ := setup(t, inSession(sandbox.File{Path: "nul", Data: []byte("a\x00b")}, sandbox.File{Path: "latin", Data: []byte("caf\xe9")}, sandbox.File{Path: "big.png", Data: png(2<<20 + 1)}))
	for path, want := range map[string]string{
		"nul":     "[nul is not shown: it is no text or too large an image (application/octet-stream, 3 bytes). Look at it with code]",
		"latin":   "[latin is not shown: it is no text or too large an image (text/plain, 4 bytes). Look at it with code]",
		"big.png": "[big.png is not shown: it is no text or too large an image (image/png, 2097153 bytes). Look at it with code]",
	} {
		got := call(t, box, "read_file", object{"path": path}, nil)
		require.False(t, got.IsError)
		require.Equal(t, want, got.Text)
		require.Empty(t, got.Images)
	}
}

func TestManyFilesAreListedInPart(t *testing.T) {
	t.Parallel()
	var files []sandbox.File
	for i := range 503 {
		files = append(files, sandbox.File{Path: fmt.Sprintf("f%03d", i)})
	}
	box, _ := setup(t, inSession(files...))
	got := call(t, box, "list_files", object{}, nil).Text
	require.Equal(t, 500, strings.Count(got, "  f"))
	require.True(t, strings.HasSuffix(got, "[3 more files are not listed]\n[sizes are in bytes]"))
	require.Contains(t, call(t, box, "read_file", object{"path": "x"}, nil).Text, "but 503 others. Call list_files for their names")
}

func TestFilesThatCannotBeWrittenOrRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		path string
		want string
	}{
		"quota":       {&workspace.QuotaError{What: "bytes", Size: 70 << 20, Quota: 64 << 20}, "a", "[nothing was written: the session would hold 73400320 bytes: want at most 67108864. Delete files that are not needed any more, with run_command or run_code, and write again]"},
		"busy":        {fmt.Errorf("lease: %w", workspace.ErrBusy), "a", "[nothing was written, since a job has the workspace. Wait until it has ended, with wait_job if you submitted it, and write again]"},
		"damaged":     {workspace.ErrDamaged, "a", "[nothing was written: the stored files of the session are damaged. Say so in your answer: somebody must delete the session]"},
		"unreachable": {errors.New("connection refused"), "a", "[nothing was written, since the files of the session cannot be reached (connection refused). This is not your doing: try once more; if it stays so, say in your answer that the sandbox is out of order]"},
		"path":        {nil, "../a", `[nothing was written: path: "../a" is not a clean relative path below /workspace. Call again with a relative path below /workspace, such as data/input.csv]`},
		"the root":    {nil, "/workspace", `[nothing was written: path: is empty. Call again with a relative path below /workspace, such as data/input.csv]`},
	} {
		box, _ := setup(t, inSession(), func(o *Options) { o.Workspace = &fakeWorkspace{err: c.err} })
		got := call(t, box, "write_file", object{"path": c.path, "content": "x"}, nil)
		require.True(t, got.IsError, name)
		require.Equal(t, c.want, got.Text, name)
	}
	box, _ := setup(t, inSession(), func(o *Options) { o.Workspace = &fakeWorkspace{err: context.Canceled} })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, "[nothing was read, since the run was ended]", callWithin(ctx, t, box, "read_file", object{"path": "x"}, nil).Text)
	require.Contains(t, call(t, box, "list_files", object{}, nil).Text, "[the files cannot be listed, since the files of the session cannot be reached")
}
