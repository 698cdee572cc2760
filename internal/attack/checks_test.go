//go:build attack

package attack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/klauspost/compress/zstd"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/submissions"
	"github.com/sandloop/sandloop/internal/testenv"
	"github.com/sandloop/sandloop/internal/workspace"
)

// checks are the attacks that no single program makes. Each tells what was not stopped.
var checks = map[string]func(t *testing.T, l *lab) []string{
	"paths": attackPaths, "archives": attackArchives, "sessions": attackSessions, "json": attackJSON, "fields": attackFields,
	"terminal": attackTerminal, "page": attackPage,
	"checker_exits": attackCheckerExits, "checker_feedback": attackCheckerFeedback, "submissions": attackChecker,
	"interaction": attackInteraction, "packages": attackPackages,
}

// attackPaths sends files whose paths lead elsewhere. Each has to be refused before a container knows of it.
func attackPaths(t *testing.T, l *lab) (problems []string) {
	for _, name := range []string{
		"", ".", "..", "../up", "/etc/passwd", "a/../../b", "a/../b", "./a", "a//b", "a/", "a\x00b",
		"\xff", strings.Repeat("a", 300), strings.Repeat("a/", 70) + "b",
		strings.Repeat("dir/", 300) + "a", "main.sh", "main.sh/below", "x/../main.sh",
	} {
		p := sandbox.Program{Language: "bash", Source: []byte("echo 'ESCAPED: it ran'\n"), Files: []sandbox.File{{Path: name, Data: []byte("x")}}}
		result, err := l.Run(t.Context(), p)
		if err != nil || result.Outcome != sandbox.OutcomeRejected {
			problems = append(problems, fmt.Sprintf("an input file %.40q: %s %v", name, result.Outcome, err))
		}
		p.Files, p.Outputs = nil, []string{name}
		if result, err = l.Run(t.Context(), p); err == nil {
			problems = append(problems, l.leaks(result)...)
		}
	}
	return problems
}

// entry is what an archive claims.
type entry struct {
	name, link string
	kind       byte
	data       []byte
}

// entries lead out of every folder, and are what no plain file is.
func entries(canary string) []entry {
	return []entry{
		{"../up.py", "", tar.TypeReg, []byte("x")},
		{"/etc/evil.py", "", tar.TypeReg, []byte("x")},
		{"a/../../up.py", "", tar.TypeReg, []byte("x")},
		{"..\\up.py", "", tar.TypeReg, []byte("x")},
		{"link.py", canary, tar.TypeSymlink, nil},
		{"hard.py", canary, tar.TypeLink, nil},
		{"device.py", "", tar.TypeChar, nil},
		{"fifo.py", "", tar.TypeFifo, nil},
		{"below/link", "/", tar.TypeSymlink, nil},
		{"below/link" + canary, "", tar.TypeReg, []byte("x")},
	}
}

func tarOf(t *testing.T, all []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range all {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Size: int64(len(e.data)), Mode: 0o6777}))
		_, err := w.Write(e.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func zipOf(t *testing.T, all []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range all {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		header.SetMode(0o644)
		if e.link != "" {
			header.SetMode(os.ModeSymlink | 0o777)
			e.data = []byte(e.link)
		}
		body, err := w.CreateHeader(header)
		require.NoError(t, err)
		_, err = body.Write(e.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func gzipOf(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// attackArchives hands in archives that are bombs or lead elsewhere. What comes out is plain files with local names and little, or a problem.
func attackArchives(t *testing.T, l *lab) (problems []string) {
	bomb := []entry{{"bomb/main.py", "", tar.TypeReg, make([]byte, 200<<20)}}
	many := make([]entry, 3000)
	for i := range many {
		many[i] = entry{fmt.Sprintf("many/%d.py", i), "", tar.TypeReg, nil}
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"paths.tar": tarOf(t, entries(l.host.canary)),
		"paths.zip": zipOf(t, entries(l.host.canary)), "bomb.tar.gz": gzipOf(t, tarOf(t, bomb)),
		"bomb.zip": zipOf(t, bomb),
		"many.tar": tarOf(t, many), "many.zip": zipOf(t, many), "cut.zip": zipOf(t, many)[:5000],
		"twice.tar.gz": gzipOf(t, gzipOf(t, tarOf(t, bomb))), "random.zip": []byte("PK\x03\x04 no archive"),
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		problems = append(problems, openSubmissions(name, path, l.host.token)...)
	}
	return problems
}

// openSubmissions reads an archive as a grader does. To refuse it is well.
func openSubmissions(name, path, token string) (problems []string) {
	set, err := submissions.Open([]string{path}, submissions.Options{})
	if err != nil {
		return nil
	}
	defer func() { _ = set.Close() }()
	for submission, err := range set.All() {
		if err != nil {
			return problems
		}
		if submission.Problem != "" {
			continue
		}
		size := 0
		for _, file := range submission.Files {
			size += len(file.Data)
			if !filepath.IsLocal(file.Path) || strings.Contains(file.Path, `\`) || bytes.Contains(file.Data, []byte(token)) {
				problems = append(problems, fmt.Sprintf("%s: the file %q came out", name, file.Path))
			}
		}
		if size > 16<<20 || len(submission.Files) > 1000 {
			problems = append(problems, fmt.Sprintf("%s: %d files of %d bytes came out of one submission", name, len(submission.Files), size))
		}
	}
	return problems
}

// attackPackages loads problem packages that lead elsewhere, from a folder and from archives. What is loaded has no data of the host, and
// is bounded.
func attackPackages(t *testing.T, l *lab) (problems []string) {
	least := []entry{
		{"problem.yaml", "", tar.TypeReg, []byte("name: Sum\n")},
		{"data/secret/1.in", "", tar.TypeReg, []byte("1 2\n")},
		{"data/secret/1.ans", "", tar.TypeReg, []byte("3\n")},
		{"submissions/accepted/a.py", "", tar.TypeReg, []byte("print(3)\n")},
	}
	hostile := map[string][]entry{
		"a link to an input":      {{"data/secret/2.in", l.host.canary, tar.TypeSymlink, nil}, {"data/secret/2.ans", "", tar.TypeReg, nil}},
		"a link to an answer":     {{"data/secret/2.in", "", tar.TypeReg, nil}, {"data/secret/2.ans", l.host.canary, tar.TypeSymlink, nil}},
		"a link to a folder":      {{"data/secret/below", filepath.Dir(l.host.canary), tar.TypeSymlink, nil}},
		"a link to a submission":  {{"submissions/accepted/b.py", l.host.canary, tar.TypeSymlink, nil}},
		"a bomb for a submission": {{"submissions/accepted/b.py", "", tar.TypeReg, make([]byte, 200<<20)}},
	}
	for i, e := range entries(l.host.canary) {
		if e.kind == tar.TypeReg && strings.HasPrefix(e.name, "below/") { // without the link before it, it is a plain path
			continue
		}
		if e.kind == tar.TypeReg || e.kind == tar.TypeSymlink { // a zip archive has no other kinds
			e.name = "submissions/accepted/" + e.name
			hostile[fmt.Sprintf("entry %d, %s", i, e.name)] = []entry{e}
		}
	}
	load := func(all []entry) (*problem.Problem, error) {
		path := filepath.Join(t.TempDir(), "sum.zip")
		require.NoError(t, os.WriteFile(path, zipOf(t, all), 0o600))
		files, archive, err := submissions.OpenZip(path)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { require.NoError(t, archive.Close()) })
		return problem.LoadFS(files, "sum")
	}
	for name, all := range hostile {
		if loaded, err := load(append(slices.Clone(least), all...)); err == nil {
			problems = append(problems, packageLeaks(name, loaded, l.host.token)...)
		}
	}
	if _, err := load(least); err != nil {
		problems = append(problems, "a plain package is refused, so that nothing was shown: "+err.Error())
	}
	return append(problems, packageFolders(t, l, least)...)
}

// packageFolders loads folders in which a file of a package is a link out of it, a folder or a FIFO. All of them have to be refused.
func packageFolders(t *testing.T, l *lab, least []entry) (problems []string) {
	for name, put := range map[string]func(path string) error{
		"a link":             func(path string) error { return os.Symlink(l.host.canary, path) },
		"a link to a folder": func(path string) error { return os.Symlink(filepath.Dir(l.host.canary), path) },
		"a link to itself":   func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"a FIFO":             func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		for _, e := range least {
			dir := t.TempDir()
			for _, plain := range least {
				path := filepath.Join(dir, plain.name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				if plain.name == e.name {
					require.NoError(t, put(path))
					continue
				}
				require.NoError(t, os.WriteFile(path, plain.data, 0o600))
			}
			if loaded, err := problem.Load(dir); err == nil {
				problems = append(problems, fmt.Sprintf("a package with %s as %s is loaded", name, e.name))
				require.NoError(t, loaded.Close())
			}
		}
	}
	return problems
}

// packageLeaks tells what a loaded package holds that it must not.
func packageLeaks(name string, p *problem.Problem, token string) (problems []string) {
	for _, test := range p.Tests {
		for _, path := range []string{test.Input, test.Answer} {
			if data, err := p.ReadFile(path, 1<<20); err == nil && bytes.Contains(data, []byte(token)) {
				problems = append(problems, fmt.Sprintf("%s: the host's secret is in %s", name, path))
			}
		}
	}
	for _, submission := range p.Submissions {
		files, err := p.Files(submission.Files)
		if err != nil {
			continue
		}
		size := 0
		for _, file := range files {
			size += len(file.Data)
			if !filepath.IsLocal(file.Path) || strings.Contains(file.Path, `\`) || bytes.Contains(file.Data, []byte(token)) {
				problems = append(problems, fmt.Sprintf("%s: the file %q came out", name, file.Path))
			}
		}
		if size > 16<<20 {
			problems = append(problems, fmt.Sprintf("%s: %d bytes came out of one submission", name, size))
		}
	}
	return problems
}

// attackSessions unpacks archives of sessions that another program made.
func attackSessions(t *testing.T, l *lab) (problems []string) {
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, encoder.Close()) }()
	hostile := map[string][]byte{"bomb": tarOf(t, []entry{{"bomb", "", tar.TypeReg, make([]byte, 64<<20)}}), "zeros": make([]byte, 64<<20)}
	for _, e := range entries(l.host.canary) {
		hostile[e.name] = tarOf(t, []entry{e})
	}
	delete(hostile, `..\up.py`) // a plain name on the systems that sessions live on
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		if name == "below/link"+l.host.canary { // without the link before it, it is a plain path
			continue
		}
		files, err := workspace.Unpack(encoder.EncodeAll(hostile[name], nil), 16<<20, 1000)
		if err == nil && len(files) > 0 {
			problems = append(problems, fmt.Sprintf("the archive %q gave %d files", name, len(files)))
		}
	}
	return problems
}

// attackJSON decodes what is nearly a job. All of it has to be refused.
func attackJSON(*testing.T, *lab) (problems []string) {
	const program = `"program":{"language":"python","source":"1"}`
	for name, text := range map[string]string{
		"unknown field":                `{` + program + `,"admin":true}`,
		"unknown field of the program": `{"program":{"language":"python","source":"1","privileged":true}}`,
		"hold":                         `{"program":{"language":"python","source":"1","hold":5}}`,
		"two objects":                  `{` + program + `}{` + program + `}`, "no object": `[]`, "null": `null`, "nothing": ``,
		"number for text":    `{"program":{"language":1,"source":"1"}}`,
		"huge number":        `{"program":{"language":"python","source":"1","limits":{"memory_bytes":1e400}}}`,
		"fraction of a byte": `{"program":{"language":"python","source":"1","limits":{"memory_bytes":1.5}}}`,
		"NaN":                `{"program":{"language":"python","source":"1","limits":{"cpus":NaN}}}`,
		"deep":               strings.Repeat(`{"program":`, 20_000) + strings.Repeat(`}`, 20_000),
		"deep array":         strings.Repeat(`[`, 100_000), "cut": `{` + program,
		"bytes that are no base64": `{"program":{"language":"python","source":{"base64":"?"}}}`,
		"queue":                    `{"queue":"critical:high",` + program + `}`,
		"a large id":               `{"id":"` + strings.Repeat("a", 65) + `",` + program + `}`,
	} {
		if _, err := jobs.DecodeJob([]byte(text)); err == nil {
			problems = append(problems, name+" is accepted")
		}
	}
	return problems
}

// hostileTexts mean something to Redis, Lua, JSON, logs, or the names of keys.
var hostileTexts = []string{
	"x\r\nSET attacked yes\r\n", "*3\r\n$3\r\nSET\r\n$8\r\nattacked\r\n$3\r\nyes\r\n", "*1\r\n$8\r\nFLUSHALL\r\n",
	"{sandloop}:canary", "sandloop:canary", "asynq:{default}:pending", "canary", "*", "..", "a:b:c",
	"]]..redis.call('FLUSHALL')..[[",
	"'); redis.call('FLUSHALL') --", `","admin":true,"x":"`, "\x00",
	"\xff\xfe", "\u202e", "${jndi:ldap://x}", "%n%s%x", "$(reboot)", "`reboot`", "; reboot", strings.Repeat("A", 5000),
	"a\nlevel=ERROR msg=forged", "\x1b[2J",
}

// attackFields puts hostile texts into every text of a job, and submits what is not refused. The queue's Redis then has the job, and its other
// keys are as they were.
func attackFields(t *testing.T, _ *lab) (problems []string) {
	rdb := redis.NewClient(&redis.Options{Addr: testenv.RedisServer(t)})
	defer func() { require.NoError(t, rdb.Close()) }()
	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	defer func() { require.NoError(t, client.Close()) }()
	require.NoError(t, rdb.MSet(t.Context(), "canary", "safe", "sandloop:canary", "safe", "{sandloop}:canary", "safe").Err())
	problems = hostileIDs(t, rdb, client)
	accepted := 0
	for _, text := range hostileTexts {
		for field, set := range textsOf() {
			job := jobs.Job{Program: sandbox.Program{Language: "python", Source: sandbox.Bytes("print(1)")}}
			set(&job, text)
			submission, err := client.Submit(t.Context(), job)
			if err != nil {
				continue
			}
			accepted++
			if status, err := client.Status(t.Context(), submission.ID); err != nil || status.State != jobs.Queued {
				problems = append(problems, fmt.Sprintf("%.40q in %s: the job is lost: %v", text, field, err))
			}
		}
		problems = append(problems, canaries(t.Context(), rdb, text)...)
	}
	if accepted == 0 {
		problems = append(problems, "no job was accepted, so that nothing was shown")
	}
	return append(problems, foreignKeys(t.Context(), rdb)...)
}

// hostileIDs asks for jobs that there are not. Each call has to fail, and Redis has the keys that it had.
func hostileIDs(t *testing.T, rdb *redis.Client, client *jobs.Client) (problems []string) {
	calls := map[string]func(string) error{
		"Status":     func(id string) error { _, err := client.Status(t.Context(), id); return err },
		"Result":     func(id string) error { _, err := client.Result(t.Context(), id); return err },
		"Cancel":     func(id string) error { _, err := client.Cancel(t.Context(), id); return err },
		"Await":      func(id string) error { _, err := client.Await(t.Context(), id); return err },
		"Follow":     func(id string) error { return client.Follow(t.Context(), id, func(sandbox.Output) {}) },
		"DeadLetter": func(id string) error { _, _, err := client.DeadLetter(t.Context(), id); return err },
		"RetryDead":  func(id string) error { return client.RetryDead(t.Context(), id) },
		"DeleteDead": func(id string) error { return client.DeleteDead(t.Context(), id) },
	}
	for _, text := range hostileTexts {
		for name, call := range calls {
			if call(text) == nil {
				problems = append(problems, fmt.Sprintf("%s of the id %.40q succeeds", name, text))
			}
		}
		problems = append(problems, canaries(t.Context(), rdb, text)...)
	}
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	slices.Sort(keys)
	if !slices.Equal(keys, []string{"canary", "sandloop:canary", "{sandloop}:canary"}) {
		problems = append(problems, fmt.Sprintf("after calls with hostile ids there are the keys %.300q", keys))
	}
	return problems
}

// textsOf are the texts of a job, each with a function that sets it.
func textsOf() map[string]func(*jobs.Job, string) {
	texts := map[string]func(*jobs.Job, string){
		"args":                   func(j *jobs.Job, s string) { j.Program.Args = []string{s} },
		"env":                    func(j *jobs.Job, s string) { j.Program.Env = map[string]string{"A": s} },
		"the name of a variable": func(j *jobs.Job, s string) { j.Program.Env = map[string]string{s: "a"} },
		"outputs":                func(j *jobs.Job, s string) { j.Program.Outputs = []string{s} },
		"the path of a file":     func(j *jobs.Job, s string) { j.Program.Files = []sandbox.File{{Path: s}} },
		"the name of a session":  func(j *jobs.Job, s string) { j.Session = &jobs.Session{Name: s} },
	}
	direct := func(name string, of func(*jobs.Job) reflect.Value) {
		for i := range of(&jobs.Job{}).NumField() {
			structField := of(&jobs.Job{}).Type().Field(i)
			isBytes := structField.Type == reflect.TypeFor[sandbox.Bytes]()
			if !structField.IsExported() || structField.Type.Kind() != reflect.String && !isBytes {
				continue
			}
			texts[name+structField.Name] = func(j *jobs.Job, s string) {
				if isBytes {
					of(j).Field(i).SetBytes([]byte(s))
					return
				}
				of(j).Field(i).SetString(s)
			}
		}
	}
	direct("", func(j *jobs.Job) reflect.Value { return reflect.ValueOf(j).Elem() })
	direct("Program.", func(j *jobs.Job) reflect.Value { return reflect.ValueOf(&j.Program).Elem() })
	return texts
}

func canaries(ctx context.Context, rdb *redis.Client, text string) (problems []string) {
	values, err := rdb.MGet(ctx, "canary", "sandloop:canary", "{sandloop}:canary").Result()
	if want := []any{"safe", "safe", "safe"}; err != nil || !reflect.DeepEqual(values, want) {
		problems = append(problems, fmt.Sprintf("after %.40q the keys of others hold %v: %v", text, values, err))
	}
	if n, err := rdb.Exists(ctx, "attacked").Result(); err != nil || n > 0 {
		problems = append(problems, fmt.Sprintf("after %.40q there is a key of the attack: %v", text, err))
	}
	return problems
}

// foreignKeys are keys that are neither the canaries nor have a name that sandloop or asynq gives, or that hold control characters.
func foreignKeys(ctx context.Context, rdb *redis.Client) (problems []string) {
	keys, err := rdb.Keys(ctx, "*").Result()
	if err != nil {
		return []string{err.Error()}
	}
	for _, key := range keys {
		ours := slices.ContainsFunc([]string{"sandloop:", "asynq:", "{sandloop}"}, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		if key != "canary" && !ours || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) {
			problems = append(problems, fmt.Sprintf("there is the key %.100q", key))
		}
	}
	return problems
}
