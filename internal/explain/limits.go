package explain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func compileError(f *facts) string {
	text := "the program was not run, since it does not compile"
	if compile := f.Result.Compile; compile != nil && compile.Outcome != sandbox.OutcomeNonzeroExit {
		return text + ": " + sentence(strings.TrimPrefix(f.Result.Message, "compile: ")) + " Give the compiler less to do: fewer templates, headers and generated data"
	}
	return text + ". Repair what the compiler says and run it again"
}

// killedForMemory is true whatever ended the call: a killed child can be all that went wrong.
func (f *facts) killedForMemory() bool {
	compile := f.Result.Compile
	return f.Result.OOMKills > 0 || f.Result.Outcome == sandbox.OutcomeOutOfMemory ||
		(compile != nil && compile.Outcome == sandbox.OutcomeOutOfMemory)
}

func outOfMemory(f *facts) string {
	text := "out of memory: "
	if limit := f.Result.Enforcement.MemoryBytes; limit > 0 {
		text += fmt.Sprintf("the limit is %s for the program and its files in /workspace and /tmp together, and the kernel killed ", size(limit))
	} else {
		text += "the kernel killed "
	}
	switch {
	case f.Result.OOMKills > 1:
		text += strconv.FormatInt(f.Result.OOMKills, 10) + " of its processes"
	case f.Result.Signal == "":
		text += "one of its processes"
	default:
		text += "it"
	}
	if peak := f.Result.PeakMemory; peak > 0 {
		text += fmt.Sprintf(" (highest use: %s)", size(peak))
	}
	return text + ". Work on the data in pieces, keep less of it at a time, or use smaller types"
}

// heapTexts are what runtimes with a heap of their own say when it is full.
var heapTexts = regexp.MustCompile(`JavaScript heap out of memory|java\.lang\.OutOfMemoryError|Allowed memory size of \d+ bytes exhausted`)

func (f *facts) heapFull() bool { return says(heapTexts)(f) && !f.killedForMemory() }

func heapFull(f *facts) string {
	text := "out of memory: the heap of the language's runtime was full"
	if limit := f.Result.Enforcement.MemoryBytes; limit > 0 {
		text += fmt.Sprintf("; its size follows the memory limit of %s", size(limit))
	}
	return text + ". Work on the data in pieces or keep less of it at a time"
}

func wallTimeout(f *facts) string {
	return "time is over: " + sentence(f.Result.Message) + f.progress() +
		" Do less in one call, pass a larger timeout (in seconds), or use submit_job for long work"
}

func cpuTimeout(f *facts) string {
	return "processor time is over: " + sentence(f.Result.Message) + f.progress() +
		" Use a faster algorithm or less data, or pass a larger timeout (in seconds)"
}

// lastLineBytes bounds the line that tells how far a program got.
const lastLineBytes = 160

// progress tells how far the output got when a limit ended the run, and what is left of a live interpreter.
func (f *facts) progress() string {
	text := " It had written nothing."
	for _, s := range f.sections {
		if s.title != "" && s.title != "stderr" {
			continue
		}
		name := "stdout"
		if s.title != "" {
			name = s.title
		}
		text = fmt.Sprintf(" Until then it wrote %s to %s, at last the line %s.", size(s.stream.Total), name, strconv.Quote(lastLine(s.text)))
		break
	}
	if f.ranLive() && f.live().Ended == "" {
		text += " The interpreter lives on, with the variables as they were at that moment."
	}
	return text
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n\t ")
	text = text[strings.LastIndexByte(text, '\n')+1:]
	if len(text) > lastLineBytes {
		text = string(wholeLines([]byte(text[:lastLineBytes]))) + "..."
	}
	return text
}

func outputLimit(f *facts) string {
	return "too much output: " + sentence(f.Result.Message) + " Print less, or write it to a file in /workspace"
}

func (f *facts) processRefused() bool {
	return f.Result.PIDsDenied > 0 || f.Result.Outcome == sandbox.OutcomePIDsLimit
}

func pidsLimit(f *facts) string {
	text := "the kernel refused a process or thread"
	if limit := f.Result.Enforcement.PIDs; limit > 0 {
		text += fmt.Sprintf(": the limit is %d at a time, all together", limit)
	}
	return text + ". Use a smaller pool, and wait for children before starting others"
}

var diskTexts = regexp.MustCompile(`No space left on device|ENOSPC`)

func (f *facts) diskFull() bool {
	compile := f.Result.Compile
	return f.Result.Outcome == sandbox.OutcomeDiskFull || (compile != nil && compile.Outcome == sandbox.OutcomeDiskFull) || says(diskTexts)(f)
}

func diskFull(f *facts) string {
	text := "the disk is full"
	if view := f.Result.Enforcement; view.WorkspaceBytes > 0 && view.TmpBytes > 0 {
		text += fmt.Sprintf(": /workspace holds %s and /tmp %s, both within the memory limit", size(view.WorkspaceBytes), size(view.TmpBytes))
	}
	return text + ". Write less, delete what is not needed, or compress it"
}
