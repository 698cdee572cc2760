package attack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// manifestName is the list of attacks, beside the folders of their programs.
const manifestName = "attacks.yaml"

// sharedFolder holds what programs of one language have in common.
const sharedFolder = "shared"

// Attack is a row of the manifest.
type Attack struct {
	// Name is the row's own, in a few words, and Class the kind of attack and the folder of its program.
	Name  string `yaml:"name"`
	Class string `yaml:"class"`
	// Program is the file name of a hostile program, and Check the name of a check in Go. Each row has one of them.
	Program string `yaml:"program"`
	Check   string `yaml:"check"`
	// Tries says what it wants, and Control what stops it.
	Tries   string `yaml:"tries"`
	Control string `yaml:"control"`
	// Outcomes are those with which the program may end, ok when empty.
	Outcomes []sandbox.Outcome `yaml:"outcomes"`
	// GVisor are more of them on gVisor, where a limit ends the whole sandbox. With them the program need not have said anything.
	GVisor []sandbox.Outcome `yaml:"gvisor"`
	// Says is a regular expression that stdout must match, or the compiler's output for compile_error. Without it a line must begin with
	// "stopped: ". Silent programs have no say: they are ended before they could speak.
	Says   string `yaml:"says"`
	Silent bool   `yaml:"silent"`
	// Args are the program's arguments, in which {canary}, {addresses}, {redis}, {socket} and {name} stand for what is on the host.
	Args []string `yaml:"args"`
	// Outputs are patterns of files that the attack wants to be collected.
	Outputs []string `yaml:"outputs"`
	// Neighbour asks for another sandbox beside the attack's, which is to see nothing of it.
	Neighbour bool   `yaml:"neighbour"`
	Limits    Limits `yaml:"limits"`
	// Known are reasons why it is not stopped in a mode, by the mode's name.
	Known map[string]string `yaml:"known"`

	says *regexp.Regexp
	// onGVisor tells that GVisor counts, and that the peak of memory that gVisor tells is no figure of the kernel's.
	onGVisor bool
}

// OnGVisor is the attack as it has to be seen on gVisor.
func (a *Attack) OnGVisor() *Attack {
	there := *a
	there.onGVisor = true
	return &there
}

// Limits are what an attack asks for; unset ones are those of the suite.
type Limits struct {
	Wall        time.Duration `yaml:"wall"`
	CPUTime     time.Duration `yaml:"cpu_time"`
	CompileWall time.Duration `yaml:"compile_wall"`
	OutputKill  int64         `yaml:"output_kill"`
	PIDs        int           `yaml:"pids"`
}

// Load reads the manifest of a folder of attacks. It refuses fields that do not exist, rows that are not whole, names that two rows
// have, and programs that are missing or that no row names. The error joins all that is wrong.
func Load(folder fs.FS) ([]Attack, error) {
	content, err := fs.ReadFile(folder, manifestName)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	var attacks []Attack
	if err := decoder.Decode(&attacks); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if err := decoder.Decode(&[]Attack{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows the list: want nothing", manifestName)
	}
	var errs []error
	seen := map[string]bool{}
	for i := range attacks {
		a := &attacks[i]
		if seen[a.Name] {
			errs = append(errs, fmt.Errorf("%s: %q is the name of two attacks", manifestName, a.Name))
		}
		seen[a.Name] = true
		if err := a.prepare(); err != nil {
			errs = append(errs, fmt.Errorf("%s: attack %q: %w", manifestName, a.Name, err))
		}
	}
	return attacks, errors.Join(append(errs, checkPrograms(folder, attacks))...)
}

// prepare checks a row and fills in what it leaves to the default.
func (a *Attack) prepare() error {
	var errs []error
	for _, field := range []struct{ name, value string }{{"name", a.Name}, {"class", a.Class}, {"tries", a.Tries}, {"control", a.Control}} {
		if field.value == "" || strings.ContainsAny(field.value, "|\n") {
			errs = append(errs, fmt.Errorf("%s: is %q: want one line without |", field.name, field.value))
		}
	}
	if (a.Program == "") == (a.Check == "") {
		errs = append(errs, fmt.Errorf("program: is %q and check is %q: want one of them", a.Program, a.Check))
	}
	expects := len(a.Outcomes)+len(a.GVisor)+len(a.Says) > 0 || a.Silent
	if a.Check != "" && (expects || len(a.Args)+len(a.Outputs) > 0 || a.Limits != Limits{}) {
		errs = append(errs, errors.New("check: looks by itself: want no outcomes, gvisor, says, silent, args, outputs and limits"))
	}
	if a.Silent && a.Says != "" {
		errs = append(errs, errors.New("silent: is set beside says: want one of them"))
	}
	for _, outcome := range append(slices.Clone(a.Outcomes), a.GVisor...) {
		if !slices.Contains(sandbox.Outcomes(), outcome) {
			errs = append(errs, fmt.Errorf("outcomes: %q is none: want some of %v", outcome, sandbox.Outcomes()))
		}
	}
	for _, mode := range slices.Sorted(maps.Keys(a.Known)) {
		if a.Known[mode] == "" {
			errs = append(errs, fmt.Errorf("known.%s: is empty: want the reason", mode))
		}
	}
	if len(a.Outcomes) == 0 {
		a.Outcomes = []sandbox.Outcome{sandbox.OutcomeOK}
	}
	if a.Says == "" {
		a.Says = `(?m)^stopped: `
	}
	var err error
	if a.says, err = regexp.Compile(a.Says); err != nil {
		errs = append(errs, fmt.Errorf("says: %w", err))
	}
	return errors.Join(errs...)
}

// File is the path of the attack's program in the folder.
func (a *Attack) File() string { return path.Join(a.Class, a.Program) }

// checkPrograms compares the programs that rows name with the files that are there.
func checkPrograms(folder fs.FS, attacks []Attack) error {
	named := map[string]bool{}
	for _, a := range attacks {
		if a.Program != "" {
			named[a.File()] = true
		}
	}
	var errs []error
	for file := range named {
		if info, err := fs.Stat(folder, file); err != nil || !info.Mode().IsRegular() {
			errs = append(errs, fmt.Errorf("%s: names %s: there is no such file", manifestName, file))
		}
	}
	err := fs.WalkDir(folder, ".", func(file string, entry fs.DirEntry, err error) error {
		shared := strings.HasPrefix(file, sharedFolder+"/")
		if err == nil && !entry.IsDir() && !shared && file != manifestName && !named[file] {
			errs = append(errs, fmt.Errorf("%s: no attack names the file %s", manifestName, file))
		}
		return err
	})
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(append(errs, err)...)
}
