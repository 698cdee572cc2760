package attack_test

import (
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/attack"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const row = "- {name: bomb, class: memory, program: bomb.py, tries: much, control: a limit"

func folderOf(manifest string, files ...string) fstest.MapFS {
	all := fstest.MapFS{"attacks.yaml": {Data: []byte(manifest)}}
	for _, file := range files {
		all[file] = &fstest.MapFile{}
	}
	return all
}

func TestARowIsReadWithItsDefaults(t *testing.T) {
	t.Parallel()
	got, err := attack.Load(folderOf(row+", limits: {wall: 2s, output_kill: 5}, known: {docker: why}}", "memory/bomb.py", "shared/attack.py"))
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, "memory/bomb.py", got[0].File())
	require.Equal(t, []sandbox.Outcome{sandbox.OutcomeOK}, got[0].Outcomes)
	require.Equal(t, attack.Limits{Wall: 2 * time.Second, OutputKill: 5}, got[0].Limits)
	require.Equal(t, map[string]string{"docker": "why"}, got[0].Known)
}

func TestManifestsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ manifest, want string }{
		"no list":              {"name: x", "cannot unmarshal"},
		"unknown field":        {row + ", trys: x}", "field trys not found"},
		"unknown limit":        {row + ", limits: {cores: 2}}", "field cores not found"},
		"limit that is none":   {row + ", limits: {wall: soon}}", "cannot unmarshal"},
		"a second document":    {row + "}\n---\n[]", "something follows the list"},
		"the same name":        {row + "}\n" + row + "}", `"bomb" is the name of two attacks`},
		"no class":             {"- {name: bomb, program: bomb.py, tries: much, control: x}", `attack "bomb": class: is ""`},
		"a bar in the table":   {"- {name: bomb, class: memory, program: bomb.py, tries: 'a|b', control: x}", `tries: is "a|b"`},
		"neither":              {"- {name: bomb, class: memory, tries: much, control: x}", `program: is "" and check is ""`},
		"both":                 {row + ", check: x}", `program: is "bomb.py" and check is "x"`},
		"check with outcomes":  {"- {name: bomb, class: memory, check: x, tries: much, control: x, outcomes: [ok]}", "looks by itself"},
		"outcome that is none": {row + ", outcomes: [fine]}", `outcomes: "fine" is none`},
		"silent that says":     {row + ", silent: true, says: x}", "silent: is set beside says"},
		"pattern":              {row + ", says: '('}", "says: error parsing regexp"},
		"known without reason": {row + ", known: {docker: ''}}", "known.docker: is empty"},
		"program that is not":  {"- {name: bomb, class: memory, program: b.py, tries: much, control: x}", "names memory/b.py: there is no such file"},
		"file nobody names":    {"- {name: bomb, class: memory, program: b.py, tries: much, control: x}", "no attack names the file memory/bomb.py"},
	} {
		_, err := attack.Load(folderOf(test.manifest, "memory/bomb.py"))
		require.ErrorContains(t, err, test.want, name)
	}
	_, err := attack.Load(fstest.MapFS{})
	require.ErrorContains(t, err, "read the manifest")
}

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := attack.Load(folderOf(row+", outcomes: [a, b]}\n- {name: other, class: memory, program: gone.py, tries: x, control: ''}", "memory/bomb.py"))
	for _, want := range []string{`"a" is none`, `"b" is none`, `attack "other": control`, "names memory/gone.py"} {
		require.ErrorContains(t, err, want)
	}
}

// The manifest that is there.
func TestTheManifestIsWhole(t *testing.T) {
	t.Parallel()
	attacks, err := attack.Load(os.DirFS("../../attacks"))
	require.NoError(t, err)
	require.Greater(t, len(attacks), 90)
}
