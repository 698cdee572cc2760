// Package problem reads problem packages of the ICPC and Kattis format: legacy, legacy-icpc,
// the draft 2023-07 and what it became, 2025-09, with the additions that DOMjudge knows.
//
// Its one invariant: a package is hostile. Reading it is bounded in files, depth and bytes,
// opens regular files below the package's folder only and never runs or changes anything.
// Test data stays where it is; a [Problem] holds names and sizes, and opens a file when asked.
//
// Wrong types, values and layouts are errors, and all of a package's errors are reported
// together, each with its file and what is allowed. Unknown keys are warnings, although the
// format calls them errors: packages of other judges carry keys of their own, and
// whoever wants strictness can refuse warnings.
//
// The package imports internal/grade and internal/sandbox. Where the format is silent, the reference tools
// (problemtools) decide, and DOMjudge for what only it knows:
//
//   - A legacy group inherits each key that its testdata.yaml lacks from its parent, as problemtools
//     does; the text of the format inherits the whole file or nothing. ignore_sample is not inherited.
//   - Flags of the legacy validator_flags come first and a group's output_validator_flags after them.
//   - A legacy folder of submissions promises the verdict of the whole; what the format says of
//     single tests is advice there, since problemtools warns only. Since 2023-07 it is binding.
//   - @EXPECTED_RESULTS@ counts in folders that promise nothing; elsewhere it must not contradict the
//     folder, as in DOMjudge.
//   - domjudge-problem.ini may hold timelimit_<language>, timefactor_<language> and memory_<language>
//     (seconds, a factor, MiB), our addition for limits of a language: DOMjudge ignores keys that it
//     does not know, and the format's own files have no place for them.
//   - Headers that lie beside single-file validators belong to each of them.
package problem
