// Package submissions reads what people handed in: files, folders, and zip and tar archives of
// them.
//
// Its one invariant: what it reads is hostile. Nothing is written to disk, no link is followed, no
// name leads anywhere, and files, bytes and the growth of compressed data are bounded. What is wrong with one
// submission is told of that one and does not hinder the others. Contents are read one submission at a time.
//
// It imports internal/sandbox.
//
// The top-level entries of a folder or archive are its submissions: a file is a submission of one file, a
// folder is one of several. An archive that holds nothing but one folder stands for that folder.
// With Options.GroupByFolder the top-level folders are groups, such as teams, and what lies in them are
// the submissions. Names that begin with a dot and what systems leave behind (__MACOSX, Thumbs.db) do not count.
package submissions
