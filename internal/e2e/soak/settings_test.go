//go:build soak

package soak_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// settings are what a run is started with.
type settings struct {
	seed    uint64
	length  time.Duration
	history string
	// scale shortens the faults of a short run: one of 30 minutes has them at full length.
	scale float64
}

const (
	defaultMinutes = 30
	// fullLength is the length from which on faults last as long as they should.
	fullLength = 15 * time.Minute
)

// settingsOf reads SOAK_SEED, SOAK_MINUTES and SOAK_HISTORY.
func settingsOf(t *testing.T) settings {
	t.Helper()
	s := settings{seed: uint64(time.Now().UnixNano()), length: defaultMinutes * time.Minute, history: os.Getenv("SOAK_HISTORY")}
	if text := os.Getenv("SOAK_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "SOAK_SEED")
		s.seed = seed
	}
	if text := os.Getenv("SOAK_MINUTES"); text != "" {
		minutes, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err, "SOAK_MINUTES")
		require.True(t, minutes > 0 && minutes <= 24*60, "SOAK_MINUTES=%s: want more than 0 and at most a day", text)
		s.length = time.Duration(minutes * float64(time.Minute))
	}
	if s.history == "" {
		s.history = filepath.Join(t.TempDir(), "history.jsonl")
	}
	s.scale = min(1, max(0.2, float64(s.length)/float64(fullLength)))
	return s
}
