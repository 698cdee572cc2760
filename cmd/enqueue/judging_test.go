package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/batch"
)

func TestWhyResultsCannotBeUsed(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{fmt.Errorf("read the batch: %w", canceled.Err()), exitInterrupted},
		{fmt.Errorf("results file x %w", batch.ErrOtherBatch), exitUsage},
		{fmt.Errorf("results file x %w", batch.ErrInUse), exitUsage},
	} {
		require.Equal(t, tt.code, exitCode(resultsError(tt.err)), "%v", tt.err)
	}
}
