package toolbox

import "github.com/sandloop/sandloop/internal/sandbox"

// The arguments of the tools. Their JSON schemas are made from these types: what is not omitempty is required.

type runCodeArguments struct {
	Language string         `json:"language" jsonschema:"The language of the code."`
	Code     string         `json:"code" jsonschema:"The whole program, or the piece of code for a live interpreter."`
	Stdin    string         `json:"stdin,omitempty" jsonschema:"All that the program can read from standard input. Without it reading ends at once."`
	Timeout  float64        `json:"timeout,omitempty" jsonschema:"Limit in seconds by the clock."`
	Files    []fileArgument `json:"files,omitempty" jsonschema:"Files to put into /workspace before the code runs."`
}

type runLiveArguments struct {
	runCodeArguments
	Restart bool `json:"restart,omitempty" jsonschema:"Start the live interpreter anew before, without the variables of earlier calls."`
}

type fileArgument struct {
	Path     string `json:"path" jsonschema:"Path below /workspace, such as data/input.csv."`
	Content  string `json:"content" jsonschema:"The whole content."`
	Encoding string `json:"encoding,omitempty" jsonschema:"How the content is written: text (default) or base64 for binary files."`
}

type runCommandArguments struct {
	Argv    []string `json:"argv" jsonschema:"Program and arguments, each an element of its own. No shell reads them: for pipes, redirections and wildcards run bash through run_code."`
	Stdin   string   `json:"stdin,omitempty" jsonschema:"All that the command can read from standard input. Without it reading ends at once."`
	Timeout float64  `json:"timeout,omitempty" jsonschema:"Limit in seconds by the clock."`
}

type readFileArguments struct {
	Path   string `json:"path" jsonschema:"Path below /workspace."`
	Offset int    `json:"offset,omitempty" jsonschema:"Number of the first line to read, 1 being the first of the file."`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many lines to read."`
}

type noArguments struct{}

type waitJobArguments struct {
	ID      string  `json:"id" jsonschema:"The id that submit_job gave."`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"How many seconds to wait for the end of the job."`
}

type cancelJobArguments struct {
	ID string `json:"id" jsonschema:"The id that submit_job gave."`
}

// program is the code as a job has it, without what the options add.
func (a runCodeArguments) program() (sandbox.Program, error) {
	files, err := decodeFiles(a.Files)
	return sandbox.Program{Language: a.Language, Source: sandbox.Bytes(a.Code), Stdin: sandbox.Bytes(a.Stdin), Files: files}, err
}
