package main

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/batch/lines"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// batchHelp is what --help says of batch.
const batchHelp = `batch judges each line of a file, a JSON object:

  {"id": "s1", "language": "python", "code": "print(int(input()) * 2)",
   "tests": [{"stdin": "2", "expected": "4"}, {"stdin": "5", "expected": "10"}]}

  id         a name that no other line has
  group      optional: what items are told apart by in tables, such as a team or a model
  language   as enqueue languages lists them
  code       the program; or files, {"path": "text" or {"base64": "..."}}, and main
  args, env  of the program
  tests      [{"name", "stdin", "expected", "args", "files"}]; stdin and expected
             beside code are one test. Without any, exit code 0 is accepted
  checker    tokens (default), text, exact or none; or {"kind": "tokens",
             "case_sensitive", "space_change_sensitive", "float_tolerance",
             "float_absolute_tolerance", "float_relative_tolerance"}
  limits     {"cpu_seconds", "wall_seconds", "memory_bytes", "cpus", "pids",
             "compile_seconds", "output_bytes", ...}
  unit       instead of tests: {"framework": "pytest", "node:test" or "exit",
             "code" or "files" with the tests}. The program is solution.py or solution.js for
             them. exit runs one test file, which passes unless it fails. Unit tests share a
             process with the program: a hostile one can cheat them, but not tests
             by stdin and expected
  expect     optional: the verdict that it should get, or a list of them

Nothing is submitted while a line is wrong. Each result is added to the results file as it
comes. The same command after an interruption or a crash goes on where it was, and
judges nothing twice; what could not be judged (IE) is tried again. Ctrl-C leaves what is in the
queue running, or cancels it with --cancel-on-interrupt; enqueue batch cancel ends the batch from
anywhere, then and later. A batch whose file is called cancel is ./cancel.

Exit codes: 0 when every verdict is AC, or the one that the line expects; 1 when one is not;
2 for a wrong command line or batch; 125 when something could not be judged (IE) or Redis
failed; 130 when interrupted or canceled.`

// batchFlags are what a command line says about a batch.
type batchFlags struct {
	judgingFlags
	language string
	limits   sandbox.Overrides
}

func newBatchCommand(a *app) *cobra.Command {
	var f batchFlags
	cmd := &cobra.Command{
		Use: "batch FILE.jsonl|-", Short: "Judge many programs, a line of JSON each", Long: batchHelp,
		Example: `  enqueue batch answers.jsonl
  enqueue batch answers.jsonl -t 2 --memory 512MiB --html results.html
  jq -c ... raw.json | enqueue batch - --results graded.jsonl --csv graded.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("want one file with a JSON object a line, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args[0]) },
	}
	f.add(cmd.Flags())
	cmd.AddCommand(newBatchCancelCommand(a))
	return cmd
}

func (f *batchFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.language, "language", "l", "", "`NAME` of the language of lines that name none")
	flags.VarP(&optional[sandbox.Seconds]{&f.limits.CPUTime, "TIME", parseTime}, "cpu-seconds", "t", "CPU time of a test, by which it is TLE, for lines that set none (default: 10)")
	flags.Var(&optional[int64]{&f.limits.Memory, "SIZE", parseSize}, "memory", "memory limit for lines that set none, such as 256MiB")
	flags.Var(&optional[float64]{&f.limits.CPUs, "NUMBER", parseCPUs}, "cpus", "share of processors for lines that set none (default: 1)")
	f.judgingFlags.add(flags)
}

// lineSettings checks the flags and makes of them what the lines leave open.
func (f *batchFlags) lineSettings(s *settings) (*lines.Settings, error) {
	mode, errs := f.judgingFlags.check()
	if _, err := s.languages.Lookup(f.language); f.language != "" && err != nil {
		errs = append(errs, refusal(err))
	}
	if _, err := f.limits.Resolve(s.defaults, s.maxima); err != nil {
		errs = append(errs, refusal(err))
	}
	if len(errs) > 0 {
		return nil, usageError(errors.Join(errs...))
	}
	return &lines.Settings{
		Languages: s.languages, Defaults: s.defaults, Maxima: s.maxima, Language: f.language, Limits: f.limits,
		Mode: mode, KeepOutput: cmp.Or(f.keepOutput, -1), BodyLimit: int(s.config.Jobs.BodyLimit),
	}, nil
}

// resultsPath is where the results go.
func (f *batchFlags) resultsPath(input string) (string, error) {
	switch {
	case f.results == "-":
		return "", usagef("--results -: want a file, from which the batch can go on")
	case f.results != "":
		return f.results, nil
	case input == "-":
		return "", usagef("--results: want a file for the results of a batch from standard input")
	}
	return strings.TrimSuffix(input, filepath.Ext(input)) + ".results.jsonl", nil
}
