package workspace

import (
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// maxPathBytes bounds all paths of a session together, since a job must be able to carry them: see sandbox.CheckFiles.
const maxPathBytes = sandbox.MiB

// QuotaError means that files are more than a session may keep. None of them was kept.
type QuotaError struct {
	// What is counted: bytes, files, or bytes of paths.
	What string
	// Size is what the files have, Quota what they may have.
	Size, Quota int64
}

// Error says it for people.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("the session would hold %d %s: want at most %d", e.Size, e.What, e.Quota)
}

// checkQuota refuses files that are too many or too large.
func (s *Store) checkQuota(files []sandbox.File) error {
	size, paths := size(files), int64(0)
	for _, file := range files {
		paths += int64(len(file.Path))
	}
	switch {
	case size > s.options.Quota:
		return &QuotaError{What: "bytes", Size: size, Quota: s.options.Quota}
	case len(files) > s.options.MaxFiles:
		return &QuotaError{What: "files", Size: int64(len(files)), Quota: int64(s.options.MaxFiles)}
	case paths > maxPathBytes:
		return &QuotaError{What: "bytes of paths", Size: paths, Quota: maxPathBytes}
	}
	return nil
}

func size(files []sandbox.File) (bytes int64) {
	for _, file := range files {
		bytes += int64(len(file.Data))
	}
	return bytes
}
