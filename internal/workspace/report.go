package workspace

import "github.com/sandloop/sandloop/internal/sandbox"

// Report is what a job did to its session, beside its result.
type Report struct {
	// Version is that of the files after the job. It grows by one with each job that changed any; 0 is none yet.
	Version int64 `json:"version"`
	// Written and Deleted are the paths that the job changed, at most ReportedPaths of each, in order.
	Written []string `json:"written,omitempty"`
	Deleted []string `json:"deleted,omitempty"`
	// Refused are files that are not kept, each with the reason: links and devices, and what is above the quota.
	// When the quota refused any, no change of this job is kept.
	Refused []sandbox.RefusedFile `json:"refused,omitempty"`
	// Live is nil for a job that ran in a container of its own.
	Live *LiveReport `json:"live,omitempty"`
}

// ReportedPaths bounds the lists of a Report.
const ReportedPaths = 100

// LiveReport is what a call in a live session tells beside its result.
type LiveReport struct {
	// Started tells that the interpreter was started for this call: variables of earlier calls do not exist.
	Started bool `json:"started,omitempty"`
	// Lost is why the variables of earlier calls are gone, in a sentence for people, if Started and there were any.
	Lost string `json:"lost,omitempty"`
	// Ended is why the interpreter does not live on after this call, in a sentence; empty when it does. The
	// next call starts another one from the files.
	Ended string `json:"ended,omitempty"`
	// Value is the last expression as the interpreter shows it, empty for none. Head and tail are kept of a long one.
	Value string `json:"value,omitempty"`
	// Displays are rich outputs, in the order in which they came. Those that are files are in Result.Files.
	Displays []Display `json:"displays,omitempty"`
}

// Display is one rich output: a table as text, a figure as a file.
type Display struct {
	// MIME is the media type, such as text/plain or image/png.
	MIME string `json:"mime"`
	// Text is the content of a text type; Path the file among Result.Files of any other.
	Text string `json:"text,omitempty"`
	Path string `json:"path,omitempty"`
}
