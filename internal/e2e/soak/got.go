package soak

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/sandloop/sandloop/internal/jobs"
)

// shownBytes is the length of an output in bytes up to which a history has it as it is.
const shownBytes = 200

// Digest is an output as a history has it: text as it is, and what is long as its hash.
func Digest(data []byte) string {
	if len(data) <= shownBytes {
		return string(data)
	}
	return "sha256:" + hash(data)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Of reads from a record what a history keeps of it.
func Of(record jobs.Record) (*Got, error) {
	whole, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encode record of job %s: %w", record.JobID, err)
	}
	result := record.Result
	got := &Got{
		Outcome: string(result.Outcome), ExitCode: result.ExitCode, Stdout: Digest(result.Stdout.Data), Total: result.Stdout.Total,
		Message: result.Message, Print: hash(whole), Submitted: record.SubmittedAt, Finished: record.FinishedAt,
		Attempts: record.Attempts,
	}
	if record.Grade != nil {
		got.Verdict = string(record.Grade.Verdict)
	}
	return got, nil
}
