package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Load reads the package in a folder. The error is an *Invalid when the package is at fault. The caller
// closes the problem.
func Load(dir string) (*Problem, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open problem package %s: %w", dir, plain(err))
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("find problem package %s: %w", dir, err), root.Close())
	}
	problem, err := LoadFS(rootFS{root}, filepath.Base(absolute))
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	problem.close = root.Close
	return problem, nil
}

// LoadFS reads the package that files hold at their root, such as an archive; the file
// system must not lead out of itself. The problem uses it until it is closed.
func LoadFS(files fs.FS, shortName string) (*Problem, error) {
	report := &report{}
	folder := &folder{files: files, report: report}
	if !folder.exists("problem.yaml") && !folder.exists(iniFile) {
		return nil, &Invalid{Issues: []Issue{{Message: "holds neither problem.yaml nor " + iniFile + ": want the folder of a problem package"}}}
	}
	settings, _ := folder.readMapping("problem.yaml", nil)
	problem := &Problem{Metadata: readMetadata(settings), ShortName: shortName, files: files}
	folder.readDOMjudge(&problem.Metadata)
	problem.OutputValidators, problem.InputValidators = folder.readValidators(&problem.Metadata)
	problem.Root, problem.Tests = folder.readData(problem.Metadata)
	problem.Include = folder.readIncludes()
	problem.Submissions = folder.readSubmissions(problem.Metadata, problem.Root)
	if len(problem.Names) == 0 {
		problem.Names[""] = shortName
	}
	if problem.SubmitAnswer {
		report.errorf("problem.yaml", 0, "problems of type submit-answer are not supported")
	}
	if err := report.err(); err != nil {
		return nil, err
	}
	sortIssues(report.warnings)
	problem.Warnings = report.warnings
	return problem, nil
}
