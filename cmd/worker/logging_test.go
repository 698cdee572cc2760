package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
)

func TestLogsAreForMachinesUnlessSomebodyWatches(t *testing.T) {
	t.Parallel()
	for format, isJSON := range map[string]bool{"auto": true, "json": true, "text": false} {
		var written bytes.Buffer
		log, err := newLogger(&written, config.Log{Level: "warn", Format: format})
		require.NoError(t, err)
		log.Info("not this")
		log.Warn("this")
		require.Equal(t, isJSON, json.Valid(written.Bytes()), written.String())
		require.Contains(t, written.String(), "this")
		require.NotContains(t, written.String(), "not this")
	}
	_, err := newLogger(&bytes.Buffer{}, config.Log{Level: "loud"})
	require.ErrorContains(t, err, "log.level")
}

func TestDurationsAreLoggedWithTheirUnit(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"json": `"took":"1.5s"`, "text": "took=1.5s"} {
		var written bytes.Buffer
		log, err := newLogger(&written, config.Log{Level: "info", Format: format})
		require.NoError(t, err)
		log.Info("done", "took", 1500*time.Millisecond)
		require.Contains(t, written.String(), want)
	}
}
