package sessions

import (
	"encoding/json"
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// stored is what a job leaves beside its files, for an attempt after it.
type stored struct {
	Result sandbox.Result   `json:"result"`
	Report workspace.Report `json:"report"`
}

// untold is what it means that encode gives nothing.
var untold = sandbox.RefusedFile{
	Path: ".", Reason: "the result is too large to be kept with the files: no change of this job is kept", Limit: true,
}

// encode makes what a commit stores, or nil of what is too large. Files that make it so are left out: they are among the
// session's, or were figures.
func encode(result sandbox.Result, report workspace.Report) []byte {
	data, err := json.Marshal(stored{result, report})
	if err == nil && len(data) > workspace.MaxResult {
		result.Files = nil
		result.RefusedFiles = append(result.RefusedFiles[:len(result.RefusedFiles):len(result.RefusedFiles)], sandbox.RefusedFile{
			Path: ".", Reason: "the files were not kept with the result: read them from the session", Limit: true,
		})
		data, err = json.Marshal(stored{result, report})
	}
	if err != nil || len(data) > workspace.MaxResult {
		return nil
	}
	return data
}

// decode reads what a job stored when it committed.
func decode(committed workspace.Committed) (sandbox.Result, *workspace.Report, error) {
	var s stored
	if err := json.Unmarshal(committed.Result, &s); err != nil {
		return sandbox.Result{}, nil, fmt.Errorf("read the result that the job committed: %w", err)
	}
	s.Report.Version = committed.Version
	return s.Result, &s.Report, nil
}
