package live

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Runner runs a program and its tests in a container, as docker.Runner does.
type Runner interface {
	RunTests(
		ctx context.Context, program sandbox.Program, next func(previous *sandbox.TestResult) (sandbox.Test, bool),
	) (sandbox.Result, error)
}

// Options say how an interpreter is started.
type Options struct {
	// Program has the language, python or node, and the limits, environment, network, ID and attempt. What
	// it would run is not used.
	Program sandbox.Program
	// Hold is how long the interpreter lives at most, whatever it does; 0 is an hour.
	Hold time.Duration
	// Files are in /workspace from the start.
	Files []sandbox.File
	// Quota bounds the bytes, and MaxFiles the number, of the files of one cell's Changes, and MaxFiles also how many
	// files there may be in /workspace. Beyond that nothing is in Changes but refused files with Limit set. 0 is 64 MiB and 1000.
	Quota    int64
	MaxFiles int
	// FigureBytes bounds all files that one cell displays; 0 is 16 MiB.
	FigureBytes int64
}

// RejectedError means that an interpreter was not started for what was asked or given: the Result says why.
type RejectedError struct{ Result sandbox.Result }

// Error is the message of the result.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("interpreter was not started: %s: %s", e.Result.Outcome, e.Result.Message)
}

// ErrEnded means that an interpreter had ended before the cell began. Reason says why.
var ErrEnded = errors.New("interpreter has ended")

// driverDir is where the drivers are in /workspace until they run. Nothing below it is a session's.
const driverDir = ".sandloop"

// ours tells whether a path is not the session's.
func ours(path string) bool {
	return path == driverDir || strings.HasPrefix(path, driverDir+"/") ||
		path == sandbox.OutPath || strings.HasPrefix(path, sandbox.OutPath+"/")
}

//go:embed drivers
var drivers embed.FS

// nodePIDs is what two processes of Node need: the driver and the interpreter.
const nodePIDs = 28

// settings are what a driver is told.
type settings struct {
	Quota       int64 `json:"quota"`
	MaxFiles    int   `json:"files"`
	FigureBytes int64 `json:"figures"`
	Values      int   `json:"values"`
}

// maxValue bounds the text of a value and of each display in bytes.
const maxValue = 64 << 10

func (o Options) withDefaults() Options {
	if o.Hold <= 0 {
		o.Hold = time.Hour
	}
	if o.Quota <= 0 {
		o.Quota = 64 * sandbox.MiB
	}
	if o.MaxFiles <= 0 {
		o.MaxFiles = 1000
	}
	if o.FigureBytes <= 0 {
		o.FigureBytes = 16 * sandbox.MiB
	}
	return o
}

// program is the driver of the language.
func (o Options) program() (sandbox.Program, error) {
	p := o.Program
	p.Source, p.Stdin, p.Outputs, p.Reuse, p.OnOutput, p.OnStart, p.Hold = nil, nil, nil, "", nil, nil, o.Hold
	switch p.Language {
	case "python":
		p.Main = driverDir + "/driver.py"
	case "node":
		p.Main = driverDir + "/driver.js"
		if p.Limits.PIDs != nil && *p.Limits.PIDs < nodePIDs {
			enough := nodePIDs
			p.Limits.PIDs = &enough
		}
	default:
		return p, fmt.Errorf("language %q has no live interpreter: want python or node", p.Language)
	}
	var err error
	if p.Files, err = driverFiles(p.Language); err != nil {
		return p, err
	}
	told, err := json.Marshal(settings{o.Quota, o.MaxFiles, o.FigureBytes, maxValue})
	p.Args = []string{string(told)}
	return p, err
}

// driverFiles are those of the driver of a language.
func driverFiles(language string) (files []sandbox.File, err error) {
	folder := "drivers/" + language
	entries, err := drivers.ReadDir(folder)
	for _, entry := range entries {
		data, readErr := drivers.ReadFile(folder + "/" + entry.Name())
		err = errors.Join(err, readErr)
		files = append(files, sandbox.File{Path: driverDir + "/" + entry.Name(), Data: data})
	}
	return files, err
}

// test is the one run of the driver.
func (o Options) test(talk *sandbox.Talk) sandbox.Test {
	test := sandbox.Test{ID: "live", Talk: talk}
	for _, file := range o.Files {
		if !ours(file.Path) {
			test.Files = append(test.Files, file)
		}
	}
	return test
}
