// Package judge judges one submission inside of a worker: it has the program compiled once and run
// on test after test, checks each output before it chooses the next test, and makes the report.
//
// Its one invariant: the answer of a test never goes to the submission, and what our side or the suite gets wrong is
// never the submission's fault: that is an error, after which the job runs again, or the verdict IE. It imports
// internal/grade and internal/sandbox, and declares what it needs of whoever runs programs and keeps blobs.
//
// Where neither the format nor its reference tools say what happens, this does:
//
//   - A suite without groups is accepted when all tests are. Its verdict is that of the first test in order that is
//     rejected, so the default mode ends there, and judging everything changes nothing but the list of tests.
//   - A suite without groups whose validators score has the sum of the scores, and all of its tests are judged.
//   - A test with the verdict IE ends the judging, unless everything is wanted: the whole is IE whatever follows.
//   - Of two sides of an interaction, that ended first which closed its output first, because only then can
//     the other have reacted. A side that closed its output and went on ended when its result came.
//   - Programs of unit tests are judged by their report even if their output was cut, and a report of no tests at all is RE.
package judge
