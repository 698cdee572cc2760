package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTranscriptComesBackFromItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	first := calls(echo("a", `{"x":"one"}`))
	first.turn.Opaque = []byte(`{"signature":"s"}`)
	transcript := start(t, "Go.", &fakeModel{replies: []reply{first, says("Done.")}}, Options{})
	transcript.Messages[2].Results[0].Images = []Image{{Path: "f.png", MIME: "image/png", Data: []byte{0x89, 'P'}}}
	require.NoError(t, transcript.Save(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left beside it")

	got, err := LoadTranscript(path)
	require.NoError(t, err)
	require.JSONEq(t, string(transcript.Messages[1].Opaque), string(got.Messages[1].Opaque))
	got.Messages[1].Opaque = transcript.Messages[1].Opaque // indented in the file
	require.Equal(t, transcript, got)
	require.Error(t, transcript.Save(filepath.Join(path, "below a file")))
}

func TestRunGoesOnFromATranscript(t *testing.T) {
	t.Parallel()
	old := &Transcript{System: "Be brief.", Usage: Usage{Input: 5}, Stop: StopCanceled, Problem: "p", Messages: []Message{
		{Role: RoleUser, Text: "Go."}, {Role: RoleAssistant, Calls: []ToolCall{echo("a", "{}")}},
	}}
	last := says("Done.")
	last.turn.Usage = Usage{Output: 2}
	model := &fakeModel{replies: []reply{last}}
	transcript := start(t, "Go on.", model, Options{Resume: old})
	require.Equal(t, StopAnswer, transcript.Stop)
	require.Empty(t, transcript.Problem)
	require.Equal(t, "Be brief.", transcript.System)
	require.Equal(t, Usage{Input: 5, Output: 2}, transcript.Usage)
	require.Contains(t, results(t, transcript, 2)[0].Text, "The run was interrupted before this call had a result.")
	require.Equal(t, "Go on.", transcript.Messages[3].Text)
	require.Len(t, old.Messages, 2, "the old one is not changed")

	transcript = start(t, "", &fakeModel{replies: []reply{says("Done.")}}, Options{Resume: old})
	require.Len(t, transcript.Messages, 4, "no task is needed to go on")
}

func TestFilesThatAreNoTranscriptAreRefused(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"{":                              "unexpected end of JSON input",
		`{"version":2}`:                  "version 2 is not known: want 1",
		`{"messages":[]}`:                "version 0 is not known: want 1",
		`{"version":1,"massages":[]}`:    `unknown field "massages"`,
		`{"version":1,"messages":[]} {}`: "invalid character '{' after top-level value",
		`{"version":1,"messages":[{"role":"boss"}]}`:                                                                       `messages[0].role: "boss" is not known: want user, assistant or tool`,
		`{"version":1,"messages":[{"role":"tool","results":[]}]}`:                                                          "messages[0].results: do not answer the calls",
		`{"version":1,"messages":[{"role":"assistant","calls":[{"id":"a"}]},{"role":"user"}]}`:                             "messages[0].calls: have no results in the message after",
		`{"version":1,"messages":[{"role":"assistant","calls":[{"id":"a"}]},{"role":"tool","results":[{"call_id":"b"}]}]}`: "messages[1].results: do not answer",
	} {
		path := filepath.Join(t.TempDir(), "t.json")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := LoadTranscript(path)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "transcript "+path)
	}
	_, err := LoadTranscript(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
