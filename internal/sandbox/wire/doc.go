// Package wire is the protocol between a worker and the sandbox-init of one container,
// over the container's attached stdin and stdout.
//
// Its one invariant: a frame from sandbox-init that is not authenticated by the job's key
// is never believed, because user code may have written it.
//
// The worker sends [Spec] (TypeSpec), then the bytes of its files and its stdin (TypeData), and perhaps
// TypeCancel. sandbox-init sends [Ready] once it can take a job; after the spec, [Start] once limits
// are verified and input is in place; output as it comes (TypeOutput); a [StepReport] after each step; files
// that were asked for, each [FileHeader] followed by its data; and [End]. A [Fault] instead means that
// sandbox-init could not do its part. Then it closes.
//
// After a spec with tests the worker sends, once all steps have passed, a [Test] (TypeTest) with its files and stdin and
// awaits its output, the files that it asked for and its [StepReport] before the next; TypeFinish ends them, and then the
// files of the spec and End come.
//
// A test that talks has no stdin beforehand. Its first TypeCredit tells that it has begun; from then on the worker sends
// TypeInput within the credit that it was given, and TypeInputEnd at its end. sandbox-init sends all of stdout in order,
// TypeOutput for what is kept as the head and TypeMore for the rest, and TypeOutputEnd at its end. What
// the worker sends after the test has ended is dropped.
//
// After the End of a spec with Reuse comes TypeClean, and then the worker may send another spec, with a key of
// its own; or a [Fault], and sandbox-init closes.
//
// It imports the standard library and internal/sandbox only.
package wire
