package toolbox

import (
	"fmt"
	"strings"
)

// The descriptions are written for a model: what a tool does, what stays, what it cannot do.

const (
	describeWriteFile = "Writes a file below /workspace, or replaces it. Folders are made as needed. The file is there in all later calls."
	describeReadFile  = "Reads a file below /workspace: text by lines, images as pictures. Of a long file it shows some lines and says how to go on."
	describeListFiles = "Lists all files below /workspace with their sizes."
	describeWaitJob   = "Waits for a job of submit_job and returns its result as run_code does. A job that has not ended in time goes on, and what it wrote so far is returned."
	describeCancelJob = "Ends a job of submit_job."
)

// surroundings hold for all that runs.
const surroundings = "There is no network and nothing can be installed. Only /workspace, which is the working directory, and /tmp can be written."

func (t *Toolbox) describeRunCode() string {
	var text strings.Builder
	text.WriteString("Runs code in a sandbox and returns what it printed, its exit code, and notes in square brackets about limits that it hit. ")
	switch {
	case t.isLive():
		text.WriteString("python runs in a live interpreter, and so does node if it is what you begin with: variables, imports and functions stay from call to call, and the value of the last expression is shown by itself. " +
			"Open matplotlib figures come back as pictures. Other languages run as programs of their own. Files in /workspace stay. ")
	case t.options.Session != "":
		text.WriteString("Each call is a program of its own: variables do not stay from call to call, files in /workspace do. Image files that it writes there come back as pictures. ")
	default:
		text.WriteString("Each call is a program of its own in a fresh sandbox: neither variables nor files stay from call to call. Image files that it writes to /workspace come back as pictures. ")
	}
	fmt.Fprintf(&text, "%s Languages: %s. The limit is %s by the clock unless timeout says otherwise, up to %s.",
		surroundings, strings.Join(t.options.Languages.Names(), ", "), seconds(t.options.Timeout), seconds(t.options.MaxTimeout))
	return text.String()
}

func (t *Toolbox) describeRunCommand() string {
	files := "Files do not stay from call to call."
	if t.options.Session != "" {
		files = "Files in /workspace stay from call to call."
	}
	return fmt.Sprintf("Runs one program with arguments in a sandbox and returns what it printed, as run_code does. %s %s The limit is %s by the clock unless timeout says otherwise, up to %s.",
		files, surroundings, seconds(t.options.Timeout), seconds(t.options.MaxTimeout))
}

func (t *Toolbox) describeSubmitJob() string {
	text := "Starts code that takes longer than a minute, and returns the id of the job at once. Its arguments are those of run_code, and so are the sandbox and its limits. "
	if t.options.Session != "" {
		text += "It runs as a program of its own, without the variables of a live interpreter, and has /workspace until it ends: run code again only after wait_job has returned its result. "
	}
	return text + fmt.Sprintf("The limit is %s by the clock unless timeout says otherwise.", seconds(t.options.MaxTimeout))
}
