// Package grade turns what happened to a submission into verdicts: what the run
// alone says, what a checker says about the output, and what a tree of test groups
// makes of the tests' verdicts and scores.
//
// Its one invariant: everything here is a pure function of its arguments, and a
// verdict other than IE is always the submission's own doing. It imports
// internal/sandbox for outcomes and results, and nothing else of ours.
//
// The rules are those of the ICPC and Kattis problem package format. Where the
// format is silent, what its reference tools do decides. Choices beyond both:
//
//   - Tokens are compared as bytes, as the format says. The reference stops at a NUL
//     byte, so that "1\x00x" equals "1" there; here it does not.
//   - A byte-order mark and another kind of line end are forgiven by [Text] only. To
//     the token checker a carriage return is white space and a byte-order mark is part
//     of the first token, because the format knows no forgiveness; the message says so.
//   - A number whose exponent has no digits (1e) is text, as the format's grammar says. The
//     reference, built with a C library that stops reading there, takes it for 1.
//   - Infinity and NaN are never numbers to the token checker, nor is anything too large
//     for a double: such a token in the answer must be matched as text.
//   - A process that was refused (pids_limit) is a run-time error only when the program
//     failed. A program that copes with the refusal and answers is checked.
//   - Output that was cut is never compared: it is OLE.
package grade
