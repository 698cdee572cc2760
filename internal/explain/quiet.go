package explain

import (
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func (f *facts) wasCut() bool {
	for _, s := range f.sections {
		if s.shown < s.stream.Total {
			return true
		}
	}
	return false
}

func outputCut(f *facts) string {
	var cuts []string
	lost := false
	for _, s := range f.sections {
		if s.shown < s.stream.Total {
			name := s.title
			if name == "" {
				name = "stdout"
			}
			cuts = append(cuts, fmt.Sprintf("%d of %d bytes of %s are shown", s.shown, s.stream.Total, name))
			lost = lost || s.stream.Truncated
		}
	}
	text := "output was cut: " + strings.Join(cuts, ", ") + ", its beginning and its end. "
	if lost {
		text += "The rest was not kept. "
	}
	return text + "Print less, or write it to a file in /workspace and look at parts of that"
}

func (f *facts) hasNonText() bool { return f.replaced > 0 }

func notText(f *facts) string {
	return fmt.Sprintf("%d bytes of the output are not UTF-8 text and are shown as �. Print such data as hex, base64 or repr()", f.replaced)
}

// howToPrint is what a program prints with, by language.
var howToPrint = map[string]string{
	"python": "print(...)", "node": "console.log(...)", "bash": "echo", "c": `printf("...\n", ...)`, "cpp": "std::cout << ...",
	"java": "System.out.println(...)", "go": "fmt.Println(...)", "ruby": "puts", "perl": "print", "php": "echo", "lua": "print(...)", "rust": "println!(...)",
}

// printedNothing is about programs that ended by themselves: for any other there is another note.
func (f *facts) printedNothing() bool {
	ended := f.Result.Outcome == sandbox.OutcomeOK || f.Result.Outcome == sandbox.OutcomeNonzeroExit
	return ended && len(f.live().Displays) == 0 && !f.has("", "stderr", "value")
}

// has tells whether there is a section with one of these titles.
func (f *facts) has(titles ...string) bool {
	for _, s := range f.sections {
		for _, title := range titles {
			if s.title == title {
				return true
			}
		}
	}
	return false
}

func printedNothing(f *facts) string {
	how := howToPrint[f.Language]
	switch {
	case len(f.Argv) > 0 && f.Result.OK:
		return "the command succeeded and printed nothing"
	case len(f.Argv) > 0:
		return "the command failed and printed nothing"
	case !f.Result.OK:
		return "the program failed and printed nothing"
	case f.ranLive():
		return fmt.Sprintf("the code ran and printed nothing. To see a value, end with it as an expression, or use %s", how)
	case how == "":
		return "the program ran and printed nothing. What it does not print is not seen"
	}
	return fmt.Sprintf("the program ran and printed nothing. What it does not print is not seen: use %s", how)
}
