package explain

// Kind names a row of the table of notes.
type Kind string

// The kinds of notes.
const (
	OurFailure      Kind = "our_failure"
	Canceled        Kind = "canceled"
	UnknownLanguage Kind = "unknown_language"
	Rejected        Kind = "rejected"
	StartedAnew     Kind = "interpreter_started_anew"
	NotLive         Kind = "not_in_the_interpreter"
	CompileError    Kind = "compile_error"
	OutOfMemory     Kind = "out_of_memory"
	HeapFull        Kind = "heap_full"
	WallTimeout     Kind = "wall_timeout"
	CPUTimeout      Kind = "cpu_timeout"
	OutputLimit     Kind = "output_limit"
	PIDsLimit       Kind = "pids_limit"
	DiskFull        Kind = "disk_full"
	Signaled        Kind = "signaled"
	ReadOnly        Kind = "read_only"
	NoNetwork       Kind = "no_network"
	NetworkRefused  Kind = "network_refused"
	ModuleMissing   Kind = "module_missing"
	CommandMissing  Kind = "command_not_found"
	NoStdin         Kind = "no_stdin"
	OutputCut       Kind = "output_cut"
	NotText         Kind = "not_text"
	PrintedNothing  Kind = "printed_nothing"
	NotKept         Kind = "files_not_kept"
	Ended           Kind = "interpreter_ended"
)

// Kinds lists every kind, in the order in which a model is told.
func Kinds() []Kind {
	kinds := make([]Kind, len(table))
	for i, row := range table {
		kinds[i] = row.kind
	}
	return kinds
}
