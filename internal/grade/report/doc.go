// Package report is what a batch leaves behind: a line of JSON for each item as it is judged,
// and from those lines CSV, JUnit XML and one HTML page that people can mail.
//
// Its one invariant: reading and writing streams, so that memory does not grow with the number
// of items. Everything that a submission wrote is hostile in every format. It imports
// internal/grade and internal/sandbox, and nothing else of ours.
package report
