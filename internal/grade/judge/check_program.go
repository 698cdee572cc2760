package judge

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// checkProgram is a program that judges outputs.
type checkProgram struct {
	program sandbox.Program
	// class is what tenants have in common whose submissions one sandbox may judge.
	class string
	// name is for people, and key the same for equal programs of one class alone.
	name, key string
}

// checkProgramsOf returns the programs of a suite. They run on behalf of the submission's tenant, who may have brought them.
func (j *Judge) checkProgramsOf(suite *grade.Suite, tenant string) []checkProgram {
	programs := make([]checkProgram, len(suite.Checker.Programs))
	for i, program := range suite.Checker.Programs {
		program.Tenant = tenant
		programs[i].name = nameOf(suite.Checker.Kind, program)
		programs[i].class = j.classOf(program)
		programs[i].bind(program)
	}
	return programs
}

// classOf is that of a program's tenant, and the tenant itself if there may be a network, which it may have a right of its own to.
func (j *Judge) classOf(program sandbox.Program) string {
	class := j.options.Class(program.Tenant)
	if program.Network {
		class += " of " + program.Tenant
	}
	return class
}

func (p *checkProgram) bind(program sandbox.Program) {
	content, err := json.Marshal(program)
	if err != nil {
		panic(err) // nothing in it can fail to encode
	}
	p.program, p.key = program, p.class+" "+grade.BlobID(content)
}

func nameOf(kind grade.CheckerKind, program sandbox.Program) string {
	role := "output validator"
	if kind == grade.CheckTestlib {
		role = "checker"
	}
	switch {
	case program.Main != "":
		return role + " " + program.Main
	case len(program.Source) == 0:
		return role + " " + program.Files[0].Path
	}
	return fmt.Sprintf("%s in %s", role, program.Language)
}

// blamed makes the message of a finding IE say which program is at fault and what it wrote.
func (p checkProgram) blamed(finding grade.Finding, run sandbox.Result) grade.Finding {
	if finding.Verdict != grade.IE {
		return finding
	}
	finding.Message = p.name + ": " + finding.Message
	stderr := run.Stderr
	if run.Compile != nil && run.Outcome == sandbox.OutcomeCompileError {
		stderr = run.Compile.Stderr
	}
	lines := nonEmptyLines(stderr.Data)
	if len(lines) > 0 && !strings.Contains(finding.Message, lines[0]) {
		finding.Message += fmt.Sprintf("; its stderr begins with %q", oneLine(strings.Join(lines[:min(3, len(lines))], " | ")))
	}
	return finding
}

// The files of a request to a check program, and the same as its arguments name them.
const (
	inputFile   = "judge/input"
	answerFile  = "judge/answer"
	outputFile  = "judge/output"
	feedbackDir = "judge/feedback/" // the format wants the slash
	workspace   = "/workspace/"
)

// testFiles are the input and the answer as a check program gets them.
func testFiles(input, answer []byte) []sandbox.File {
	return []sandbox.File{{Path: inputFile, Data: input}, {Path: answerFile, Data: answer}}
}
