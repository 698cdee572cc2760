package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// example is a command of examples/README.md with the exit code that it must have.
type example struct {
	language, command string
	code              int
}

var tableRow = regexp.MustCompile("(?m)^\\| ([a-z0-9]+) \\| `enqueue (run [^`]+)` \\|")

func examples(t *testing.T) (all []example) {
	t.Helper()
	page, err := os.ReadFile("../../examples/README.md")
	require.NoError(t, err)
	for _, row := range tableRow.FindAllStringSubmatch(string(page), -1) {
		code, err := strconv.Atoi(row[1])
		language := row[1]
		if err == nil { // a row of the programs that fail
			language = strings.TrimPrefix(filepath.Ext(strings.Fields(row[2])[1]), ".")
		}
		all = append(all, example{language, row[2], code})
	}
	return all
}

// core are the languages of the image that every test run has, and their extensions.
var core = map[string]bool{"python": true, "py": true, "node": true, "bash": true, "c": true, "cpp": true}

// hasFull tells whether the image of the other languages is there.
func hasFull() bool {
	return exec.Command("docker", "image", "inspect", "sandloop/full:latest").Run() == nil //nolint:noctx // ends by itself
}

func TestExamplesDoWhatTheirTableSays(t *testing.T) {
	in := newInstallation(t)
	in.startWorker(t)
	dir, err := filepath.Abs("../../examples")
	require.NoError(t, err)
	ran := 0
	for _, e := range examples(t) {
		if !core[e.language] {
			if !hasFull() {
				t.Logf("not run, since sandloop/full is not there: %s", e.command)
				continue
			}
			ran--
		}
		ran++
		t.Run(e.command, func(t *testing.T) {
			testenv.Except(t, "runsc", notOnGVisor)
			args := strings.Fields(strings.NewReplacer("'", "", "/tmp/report", t.TempDir()).Replace(e.command))
			got := in.enqueueIn(t, dir, "", args...)
			require.Equal(t, e.code, got.code, got.stderr)
			want, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(args[1], filepath.Ext(args[1]))+".expected"))
			if os.IsNotExist(err) {
				return // 64 KiB of output; a test of its own looks at it
			}
			require.NoError(t, err)
			require.Equal(t, string(want), got.stdout, got.stderr)
		})
	}
	require.Equal(t, 16, ran, "7 in the core languages and 9 that fail")
}
