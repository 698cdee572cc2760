//go:build attack

package attack_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/judge"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// markup is what a program prints at whoever looks at it: sequences that drive a terminal, elements of a page, formulas of a sheet.
const markup = "\x1b]0;title\x07\x1b[2J\x1b[31m\x1b]52;c;cm0gLXJm\x07\x9b31m\xc2\x9b31m\u202e\r\x08\x7f\x00" +
	`<script>alert(1)</script><img src=x onerror=alert(1)>"><svg/onload=alert(1)>' onmouseover='alert(1)<!--]]></pre><iframe src=//x>` +
	"\n=HYPERLINK(\"x\")\n@SUM(1)\n"

// printing is a program that prints text on both streams.
func printing(text string) sandbox.Program {
	const source = "import os\nt = bytes.fromhex('%x')\nos.write(1, t)\nos.write(2, t)\nos._exit(0)\n"
	return sandbox.Program{Language: "python", Source: fmt.Appendf(nil, source, text)}
}

// attackTerminal shows the output of a real program as the command line does on a terminal.
func attackTerminal(t *testing.T, l *lab) (problems []string) {
	result, err := l.Run(t.Context(), printing(markup))
	require.NoError(t, err)
	if string(result.Stdout.Data) != markup {
		problems = append(problems, fmt.Sprintf("the program's own bytes came back as %q", result.Stdout.Data))
	}
	var shown bytes.Buffer
	disarmer := cli.NewDisarmer(&shown)
	for _, b := range result.Stdout.Data { // one by one, so that no sequence arrives whole
		_, err := disarmer.Write([]byte{b})
		require.NoError(t, err)
	}
	require.NoError(t, disarmer.Flush())
	for _, r := range shown.String() {
		if unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError {
			problems = append(problems, fmt.Sprintf("the terminal gets %U", r))
		}
	}
	return problems
}

// newJudge makes a judge on the lab's runner.
func (l *lab) newJudge(t *testing.T) *judge.Judge {
	t.Helper()
	j := judge.New(judge.Options{Runner: l.Runner, Blobs: noBlobs{}, Defaults: l.limits, Maxima: sandbox.DefaultMaxima(), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, time.Minute))
		defer cancel()
		require.NoError(t, j.Close(ctx))
	})
	return j
}

// noBlobs has none.
type noBlobs struct{}

func (noBlobs) Get(context.Context, string) ([]byte, error) { return nil, errors.New("no blob") }

// judged judges a submission, and ends the judge, whose validators' sandboxes would outlive it.
func (l *lab) judged(t *testing.T, p sandbox.Program, suite *grade.Suite) *grade.Report {
	t.Helper()
	j := l.newJudge(t)
	_, got, err := j.Judge(t.Context(), p, grade.Task{Suite: suite})
	require.NoError(t, err)
	require.NoError(t, j.Close(t.Context()))
	return got
}

// suiteOf has two tests with the answer secret-answer, judged by checkers.
func suiteOf(kind grade.CheckerKind, programs ...sandbox.Program) *grade.Suite {
	suite := &grade.Suite{Name: "attack", Checker: grade.Checker{Kind: kind, Programs: programs}}
	for _, name := range []string{"secret/1", "secret/2"} {
		suite.Tests = append(suite.Tests, grade.Test{
			Name: name, Input: grade.Data{Inline: sandbox.Bytes("input\n")}, Answer: grade.Data{Inline: sandbox.Bytes("secret-answer\n")},
		})
	}
	return suite
}

// attackPage judges a submission that prints markup, by a checker that repeats it, and reads what the reports make of it.
func attackPage(t *testing.T, l *lab) (problems []string) {
	checker := sandbox.Program{Language: "python", Source: fmt.Appendf(nil, "import sys\nt = bytes.fromhex('%x')\n"+
		"for name in 'judgemessage.txt', 'teammessage.txt':\n    open(sys.argv[3] + name, 'wb').write(t)\nsys.exit(43)\n", markup)}
	got := l.judged(t, printing(markup), suiteOf(grade.CheckValidator, checker))
	item := report.Item{
		ID: markup, Group: markup, Language: markup, JobID: markup, Verdict: got.Verdict, Message: got.Message, Tests: got.Tests, Slowest: markup,
		Compile: &report.Compile{Output: markup},
	}
	if got.Verdict != grade.WA || !strings.Contains(got.Message, "<script>") {
		problems = append(problems, fmt.Sprintf("the checker's message did not come: %s %q", got.Verdict, got.Message))
	}
	var items iter.Seq2[report.Item, error] = func(yield func(report.Item, error) bool) { yield(item, nil) }
	var page, sheet, suite bytes.Buffer
	require.NoError(t, report.WriteHTML(&page, items, report.Options{}))
	require.NoError(t, report.WriteCSV(&sheet, items, report.Options{}))
	require.NoError(t, report.WriteJUnit(&suite, items, report.Options{}))
	problems = append(append(problems, activeContent(t, page.Bytes())...), formulas(t, sheet.Bytes())...)
	for _, text := range []string{page.String(), sheet.String(), suite.String()} {
		if strings.ContainsAny(text, "\x1b\x00\x07\x7f\u202e") || !utf8.ValidString(text) {
			problems = append(problems, "a report holds control characters")
		}
	}
	return problems
}

// activeContent lists what a browser would do something about, beside the page's own style.
func activeContent(t *testing.T, page []byte) (problems []string) {
	root, err := html.Parse(bytes.NewReader(page))
	require.NoError(t, err)
	active := []string{"script", "img", "iframe", "object", "embed", "link", "form", "base", "audio", "video"}
	for node := range root.Descendants() {
		if node.Type == html.CommentNode || node.Type == html.ElementNode && slices.Contains(active, node.Data) {
			problems = append(problems, "the page holds the element "+node.Data)
		}
		for _, a := range node.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "srcdoc" || a.Key == "style" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
				problems = append(problems, fmt.Sprintf("the page holds the attribute %s=%q", a.Key, a.Val))
			}
		}
	}
	return problems
}

func formulas(t *testing.T, sheet []byte) (problems []string) {
	rows, err := csv.NewReader(bytes.NewReader(sheet)).ReadAll()
	require.NoError(t, err)
	for _, row := range rows {
		for _, cell := range row {
			if trimmed := strings.TrimSpace(cell); trimmed != "" && strings.ContainsAny(trimmed[:1], "=@+") {
				problems = append(problems, fmt.Sprintf("the sheet holds the formula %.40q", cell))
			}
		}
	}
	return problems
}

// attackCheckerExits judges a wrong output by checkers that end in every other way than with their word. None of them may make it AC.
func attackCheckerExits(t *testing.T, l *lab) (problems []string) {
	ends := map[string]string{
		"exit 0": "sys.exit(0)", "exit 1": "sys.exit(1)", "exit 3": "sys.exit(3)", "exit 41": "sys.exit(41)", "exit 44": "sys.exit(44)",
		"exit 255": "sys.exit(255)",
		"killed":   "os.kill(os.getpid(), 9)", "crash": "os.abort()", "exception": "1 / 0", "memory": "x = bytearray(1 << 30)",
		"endless": "while True: pass", "asleep": "import time; time.sleep(600)",
		"flood": "while True: os.write(1, b'42\\n' * 1000)", "child says 42": "os.fork() or os._exit(42); os.wait(); sys.exit(0)",
	}
	by := func(kind grade.CheckerKind, end string) *grade.Report {
		checker := sandbox.Program{Language: "python", Source: sandbox.Bytes("import os, sys\nprint(42)\n" + end + "\n")}
		checker.Limits.WallTime = ptr(sandbox.Seconds(testenv.Scale(t, 2*time.Second)))
		checker.Limits.CPUTime = ptr(sandbox.Seconds(testenv.Scale(t, time.Second)))
		checker.Limits.OutputKill = ptr(sandbox.MiB)
		return l.judged(t, printing("wrong\n"), suiteOf(kind, checker))
	}
	for kind, words := range map[grade.CheckerKind]map[string]grade.Verdict{
		grade.CheckValidator: {"sys.exit(42)": grade.AC, "sys.exit(43)": grade.WA},
		// Testlib's codes mean other things: 0 is its AC, and 1, with which Python ends for an exception, its WA.
		grade.CheckTestlib: {
			"sys.exit(0)": grade.AC, "sys.exit(1)": grade.WA, "1 / 0": grade.WA,
			"sys.exit(42)": grade.IE, "sys.exit(43)": grade.IE, "sys.exit(7)": grade.IE,
		},
	} {
		for name, end := range ends {
			if _, word := words[end]; word || strings.HasSuffix(end, "sys.exit(0)") && kind == grade.CheckTestlib {
				continue
			}
			if got := by(kind, end); got.Verdict != grade.IE {
				problems = append(problems, fmt.Sprintf("a %s that ends with %s: the verdict is %s (%s)", kind, name, got.Verdict, got.Message))
			}
		}
		for end, want := range words {
			if got := by(kind, end); got.Verdict != want {
				problems = append(problems, fmt.Sprintf("a %s that ends with %s: the verdict is %s, want %s (%s)", kind, end, got.Verdict, want, got.Message))
			}
		}
	}
	return problems
}

// attackCheckerFeedback judges by checkers whose feedback is endless, a link, no text or no number. The verdict stands or is IE, and what comes back
// is bounded. The feedback of testlib is its standard error.
func attackCheckerFeedback(t *testing.T, l *lab) (problems []string) {
	for kind, feedback := range map[grade.CheckerKind]map[string]string{
		grade.CheckValidator: {
			"100 MiB":    "f = open(d + 'judgemessage.txt', 'wb')\ntry:\n    for _ in range(100): f.write(b'x' * (1 << 20))\nexcept OSError: pass",
			"a link":     "os.symlink('" + l.host.canary + "', d + 'judgemessage.txt'); os.symlink('/etc/passwd', d + 'teammessage.txt')",
			"a FIFO":     "os.mkfifo(d + 'judgemessage.txt')",
			"a folder":   "os.mkdir(d + 'judgemessage.txt')",
			"no text":    "open(d + 'judgemessage.txt', 'wb').write(bytes(range(256)) * 1000)",
			"many files": "for i in range(5000): open(d + str(i), 'w').write('x')",
			"a score":    "open(d + 'score.txt', 'w').write('1e309')",
			"no score":   "open(d + 'score.txt', 'w').write('NaN')",
			"streams":    "[os.write(s, b'y' * (1 << 20)) for s in (1, 2) for _ in range(30)]",
		},
		grade.CheckTestlib: {
			"a flood":         "for _ in range(30): os.write(2, b'y' * (1 << 20))",
			"no text":         "os.write(2, bytes(range(256)) * 1000)",
			"nothing":         "os.close(2)",
			"infinite points": "os.write(2, b'points 1e309'); sys.exit(7)",
			"no points":       "os.write(2, b'points NaN'); sys.exit(7)",
			"a large number":  "os.write(2, b'points ' + b'9' * 100000); sys.exit(7)",
		},
	} {
		wrongExit := map[grade.CheckerKind]string{grade.CheckValidator: "43", grade.CheckTestlib: "1"}[kind]
		wrong := false
		for name, write := range feedback {
			source := "import os, sys\nd = sys.argv[3]\n" + write + "\nsys.exit(" + wrongExit + ")\n"
			checker := sandbox.Program{Language: "python", Source: sandbox.Bytes(source)}
			got := l.judged(t, printing("wrong\n"), suiteOf(kind, checker))
			size := len(got.Message)
			for _, test := range got.Tests {
				size += len(test.Message) + len(test.Public)
				if strings.Contains(test.Message+test.Public, l.host.token) || strings.Contains(test.Message+test.Public, "root:") {
					problems = append(problems, "a checker's link was followed")
				}
			}
			wrong = wrong || got.Verdict == grade.WA
			if got.Verdict != grade.WA && got.Verdict != grade.IE || size > 1<<20 {
				problems = append(problems, fmt.Sprintf("a %s with feedback that is %s: the verdict is %s with %d bytes of messages", kind, name, got.Verdict, size))
			}
		}
		if !wrong {
			problems = append(problems, fmt.Sprintf("no word of a %s counts, so that nothing was shown", kind))
		}
	}
	return problems
}

// attackInteraction judges submissions that talk with validators which read everything, nothing, or write much, and never accept. None of them
// may be accepted or keep the judge waiting, and what comes back is bounded.
func attackInteraction(t *testing.T, l *lab) (problems []string) {
	interactors := map[string]string{
		"reads everything": "while os.read(0, 65536): pass\nsys.exit(43)",
		"reads nothing":    "time.sleep(2)\nsys.exit(43)",
		"writes 8 MiB":     "try: [os.write(1, b'x' * 65536) for _ in range(128)]\nexcept OSError: pass\nsys.exit(43)",
	}
	submissions := map[string]string{
		"flood": "while True: os.write(1, b'x' * 65536)", "never reads": "time.sleep(600)", "closes both": "os.close(0); os.close(1); time.sleep(600)",
		"imitated verdict": "print(42, flush=True); sys.exit(42)", "held by a child": "os.fork() or time.sleep(600)",
	}
	within := testenv.Scale(t, 40*time.Second)
	for beside, reads := range interactors {
		validator := sandbox.Program{Language: "python", Source: sandbox.Bytes("import os, sys, time\n" + reads + "\n")}
		validator.Limits.WallTime = ptr(sandbox.Seconds(testenv.Scale(t, 5*time.Second)))
		for name, source := range submissions {
			p := sandbox.Program{Language: "python", Source: sandbox.Bytes("import os, sys, time\n" + source + "\n")}
			p.Limits.WallTime = ptr(sandbox.Seconds(testenv.Scale(t, 3*time.Second)))
			begun := time.Now()
			got := l.judged(t, p, suiteOf(grade.CheckInteractive, validator))
			size := len(got.Message)
			for _, test := range got.Tests {
				size += len(test.Message) + len(test.Public)
				if test.Stdout != nil {
					size += len(test.Stdout.Data)
				}
			}
			t.Logf("%s, %s: %s after %s: %.200q", name, beside, got.Verdict, time.Since(begun), got.Message)
			if got.Verdict == grade.AC || time.Since(begun) > within || size > 1<<20 {
				problems = append(problems, fmt.Sprintf("the submission %q, whose validator %s: the verdict is %s after %s with %d bytes",
					name, beside, got.Verdict, time.Since(begun), size))
			}
		}
	}
	accepting := sandbox.Program{Language: "python", Source: sandbox.Bytes("import sys\nsys.exit(42 if input() == 'right' else 43)\n")}
	if got := l.judged(t, printing("right\n"), suiteOf(grade.CheckInteractive, accepting)); got.Verdict != grade.AC {
		problems = append(problems, "the right answer is not accepted, so that nothing was shown: "+got.Message)
	}
	return problems
}

// attackChecker judges submissions that want AC without knowing the answer, by comparison and by a checker in its sandbox.
func attackChecker(t *testing.T, l *lab) (problems []string) {
	const compare = "import sys\nsys.exit(42 if sys.stdin.read() == open(sys.argv[2]).read() else 43)\n"
	checker := sandbox.Program{Language: "python", Source: sandbox.Bytes(compare)}
	submissions := map[string]string{
		"imitated verdict": "print('42'); print('AC'); sys.exit(42)", "nothing": "",
		"its own checker": "open('checker.py', 'w').write('import sys; sys.exit(42)')",
		"search for the answer": "import subprocess; r = subprocess.run(['grep', '-rslI', 'secret-ans' + 'wer', '/', '--exclude-dir=proc', " +
			"'--exclude-dir=sys', '--exclude-dir=usr'], capture_output=True, timeout=15); " +
			"print(open(r.stdout.split(b'\\n')[0]).read() if r.stdout.strip() else 'no')",
		"environment": "print(max(list(os.environ.values()) + sys.argv, key=lambda v: 'answer' in v))",
		"flood":       "[os.write(1, b'secret' * 10000) for _ in range(200)]",
		"NUL":         "os.write(1, b'secret-answer\\n\\0')", "frames": "os.write(1, b'S\\0\\0\\0\\2{}' + b'\\0' * 32); os.write(1, b'wrong')",
		"daemon": "os.fork() or (os.setsid(), os.fork() or [open('/tmp/x', 'w').write('x') for _ in iter(int, 1)])",
	}
	for name, source := range submissions {
		p := sandbox.Program{Language: "python", Source: sandbox.Bytes("import os, sys\n" + source + "\n")}
		for _, suite := range []*grade.Suite{suiteOf(grade.CheckExact), suiteOf(grade.CheckValidator, checker)} {
			if got := l.judged(t, p, suite); got.Verdict == grade.AC {
				problems = append(problems, fmt.Sprintf("the submission %q is accepted by %s", name, suite.Checker.Kind))
			}
		}
	}
	if got := l.judged(t, printing("secret-answer\n"), suiteOf(grade.CheckValidator, checker)); got.Verdict != grade.AC {
		problems = append(problems, "the right answer is not accepted, so that nothing was shown: "+got.Message)
	}
	return problems
}
