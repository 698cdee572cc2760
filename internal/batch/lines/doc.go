// Package lines reads batches: files with a JSON object a line, each a submission with what it is
// judged by.
//
// Its one invariant: what is checked is what is judged. Check and Entries decode a line by the same code, an unknown field or a
// value that no job could have is an error that names line, field, value and what is allowed, and
// neither holds more than one line and 8 bytes for each other. It imports internal/batch and below,
// internal/grade and internal/sandbox.
package lines
