package labels_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

func TestJobName(t *testing.T) {
	t.Parallel()
	require.Equal(t, "sandloop-job-01ABC-3", labels.JobName("01ABC", 3))
	// printf 'a/b c' | sha256sum
	require.Equal(t, "sandloop-job-0af99a609169538538d589bf108a2131-1", labels.JobName("a/b c", 1))
}

func TestAttemptOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, job string
		want      int
		found     bool
	}{
		{"/sandloop-job-01ABC-12", "01ABC", 12, true},
		{"sandloop-job-01ABC-1", "01ABC", 1, true},
		{"sandloop-job-01ABC-1-2", "01ABC-1", 2, true},
		{"sandloop-job-01ABC-1-2", "01ABC", 0, false},
		{"sandloop-w1-7", "01ABC", 0, false},
		{"sandloop-job-01ABC-x", "01ABC", 0, false},
	} {
		got, found := labels.AttemptOf(tt.name, tt.job)
		require.Equal(t, tt.found, found, tt.name)
		require.Equal(t, tt.want, got, tt.name)
	}
}
