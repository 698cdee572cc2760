// Package explain tells a language model what became of a job: what the program wrote, how it ended, and a note for
// whatever the kernel or a limit did to it silently, each with what to do next.
//
// Its one invariant: each note is a row of one table, a condition and a text, and neither looks at anything but the
// stored result. It may import the standard library, internal/sandbox and internal/workspace.
package explain
