package e2e_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestExampleProblemsGetWhatTheyPromise judges every submission of the problem packages in real containers.
// How many there are was counted by hand.
func TestExampleProblemsGetWhatTheyPromise(t *testing.T) {
	if !hasFull() {
		t.Log("not run, since sandloop/full, which has Java, is not there")
		return
	}
	in := newInstallation(t)
	in.startWorker(t)
	for name, submissions := range map[string]int{"sum": 35, "circle": 26, "subset": 33, "guess": 38, "blocks": 32} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(bin, "enqueue"), "problem", "check", filepath.Join("../../examples/problems", name), "--json")
			cmd.Env = in.env
			out, err := cmd.Output()
			require.NoError(t, err, "%s", out)
			var got struct {
				Submissions []struct {
					Path string `json:"path"`
					OK   bool   `json:"ok"`
				} `json:"submissions"`
			}
			require.NoError(t, json.Unmarshal(out, &got))
			require.Len(t, got.Submissions, submissions)
			for _, submission := range got.Submissions {
				require.True(t, submission.OK, submission.Path)
			}
		})
	}
}
