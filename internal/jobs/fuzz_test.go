package jobs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// FuzzEnding reads any bytes as a stored result: what can be read is stored as the same again.
func FuzzEnding(f *testing.F) {
	for _, end := range []ending{
		{Result: okResult("out")},
		{Result: ourResult(sandbox.OutcomeInfraError, "m"), Grade: report(grade.WA)},
		{Result: okResult(""), Session: &workspace.Report{Version: 3, Live: &workspace.LiveReport{Value: "1"}}},
	} {
		_, packed := end.storable()
		f.Add(packed)
	}
	f.Add([]byte("j{\"grade\":{\"verdict\":\"??\",\"groups\":{\"items\":[null]}}}"))
	f.Add([]byte("z"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		if len(stored) > 0 && stored[0] == formatZstd {
			stored[0] = formatPlain // what zstd makes of it is that library's own to fuzz
		}
		end, err := decodeEnding("x", stored)
		if err != nil {
			require.ErrorIs(t, err, errUnreadable)
			return
		}
		_, packed := end.storable()
		again, err := decodeEnding("x", packed)
		require.NoError(t, err)
		require.JSONEq(t, asJSON(t, end), asJSON(t, again))
	})
}

// FuzzState reads any text as what Redis keeps of a job beside body and result.
func FuzzState(f *testing.F) {
	f.Add("done", "ok", "1733000000000000000", `{"number":1,"worker":"w","started":1,"ended":2}`+"\n")
	f.Add("running", "", "-1", "{\"number\":1e99}\n\n")
	f.Add("?", "infra_error", "1,2,,x", "null\n[]")
	f.Fuzz(func(t *testing.T, state, outcome, moment, history string) {
		status := parseStatus("x", map[string]string{
			fieldState: state, fieldOutcome: outcome, fieldSubmitted: moment, fieldStarted: moment, fieldFinished: moment, fieldAttempt: moment, fieldRetried: moment,
		})
		attempts, err := parseHistory("x", history)
		if err != nil {
			return
		}
		_, _ = json.Marshal(Record{Attempts: attempts, SubmittedAt: status.SubmittedAt}) // a year after 9999 is none in JSON
	})
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}
