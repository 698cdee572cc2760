package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
)

// runFlags are the flags of a run.
type runFlags struct {
	source  taskSource
	model   modelFlags
	session sessionFlags

	iterations  int
	timeout     time.Duration
	tokens      int64
	asJSON      bool
	quiet       bool
	transcript  string
	resume      string
	out         string
	force       bool
	keepSession bool
}

func (f *runFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	f.source.add(flags)
	f.model.add(flags)
	f.session.add(flags)
	flags.BoolVar(&f.keepSession, "keep-session", false, "keep a fresh session after the run")
	flags.IntVar(&f.iterations, "max-iterations", agent.DefaultMaxIterations, "most `TURNS` of the model")
	flags.DurationVar(&f.timeout, "timeout", agent.DefaultWallTime, "longest `TIME` of the run, such as 90s or 20m")
	flags.Int64Var(&f.tokens, "max-tokens", 0, "most `TOKENS` of the run, as far as the provider reports them (default: no bound)")
	flags.BoolVar(&f.asJSON, "json", false, "print every event as a line of JSON, and nothing else, on standard output")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the answer and nothing else")
	flags.StringVar(&f.transcript, "transcript", "", "`FILE` that the transcript is saved to after every turn, however the run ends\n(default: that of --resume, if any)")
	flags.StringVar(&f.resume, "resume", "", "go on with the run whose transcript is in `FILE`, in its session if that is kept; with a task or without")
	flags.StringVar(&f.out, "out", "", "`FOLDER` that the files of the session are written to at the end")
	flags.BoolVar(&f.force, "force", false, "let files of --out replace others, and have hidden names; in an empty folder they may")
}

// check refuses what can be known to be wrong before anything is asked of anybody.
func (f *runFlags) check() error {
	switch {
	case f.iterations < 1:
		return cli.Usagef("--max-iterations: %d is not allowed: want 1 or more", f.iterations)
	case f.timeout <= 0:
		return cli.Usagef("--timeout: %s is not allowed: want more than 0", f.timeout)
	case f.tokens < 0:
		return cli.Usagef("--max-tokens: %d is not allowed: want 0 or more", f.tokens)
	case f.asJSON && f.quiet:
		return cli.Usagef("--quiet: --json already prints nothing but events: want one of them")
	}
	if f.transcript == "" {
		f.transcript = f.resume
	}
	if err := checkFile("--transcript", f.transcript); err != nil {
		return err
	}
	if f.out != "" {
		if err := f.folder().Check(); err != nil {
			return err
		}
	}
	return f.session.check()
}

// folder is where the files of the session go.
func (f *runFlags) folder() cli.Folder {
	return cli.Folder{Path: f.out, Flag: "--out", Force: f.force, Fresh: true}
}

// checkFile refuses a file that could not be written at the end of a turn.
func checkFile(flag, path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return cli.Usagef("%s %s: is not a file", flag, path)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return cli.Usagef("%s %s: there is no folder %s", flag, path, dir)
	}
	return nil
}
