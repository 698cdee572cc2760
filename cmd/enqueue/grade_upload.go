package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
)

// uploadBytes is how much test data is in memory at once on its way to Redis. One blob may be larger.
const uploadBytes = 8 << 20

// suiteData is what the jobs of a problem refer to in Redis.
type suiteData struct {
	blobs []problem.Blob
	suite []byte
}

// newSuiteData also returns the id of the suite.
func newSuiteData(grading *problem.Grading) (*suiteData, string, error) {
	suite, err := json.Marshal(grading.Suite)
	if err != nil {
		return nil, "", fmt.Errorf("encode the tests: %w", err)
	}
	if len(suite) > grade.MaxBlob {
		return nil, "", usagef("the tests are %d bytes together without their data: want at most %d", len(suite), grade.MaxBlob)
	}
	return &suiteData{blobs: grading.Blobs, suite: suite}, grade.BlobID(suite), nil
}

// upload stores what is not there yet. It can be repeated, unless it calls fail because the package is not what it was.
func (d *suiteData) upload(ctx context.Context, client *jobs.Client, fail context.CancelCauseFunc) error {
	ids := make([]string, len(d.blobs))
	for i, blob := range d.blobs {
		ids[i] = blob.ID
	}
	there, err := client.HasBlobs(ctx, ids...)
	if err != nil {
		return err
	}
	contents, size := [][]byte{d.suite}, int64(len(d.suite))
	for _, blob := range d.blobs {
		if there[blob.ID] {
			continue
		}
		if size+blob.Size > uploadBytes {
			if _, err := client.PutBlobs(ctx, contents...); err != nil {
				return err
			}
			contents, size = nil, 0
		}
		content, err := blob.Read()
		if err != nil {
			fail(err)
			return err
		}
		contents, size = append(contents, content), size+blob.Size
	}
	_, err = client.PutBlobs(ctx, contents...)
	return err
}

// sequence is a list as reports are made of.
func sequence(items []results.Item) iter.Seq2[results.Item, error] {
	return func(yield func(results.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}
