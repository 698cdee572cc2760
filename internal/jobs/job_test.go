package jobs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestDecodeJobReadsEveryField(t *testing.T) {
	t.Parallel()
	got, err := DecodeJob([]byte(`{"tenant":"alice","queue":"batch","idempotency_key":"build-17","follow":true,
		"submitted_at":"2024-05-06T07:08:09Z","program":{"language":"python","source":{"base64":"/wA="},"args":["a"],"limits":{"pids":3}}}`))
	require.NoError(t, err)
	pids := 3
	require.Equal(t, Job{
		Tenant: "alice", Queue: Batch, IdempotencyKey: "build-17", Follow: true,
		SubmittedAt: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
		Program: sandbox.Program{
			Language: "python", Source: sandbox.Bytes{0xff, 0}, Args: []string{"a"}, Limits: sandbox.Overrides{PIDs: &pids},
		},
	}, got)
}

func TestDecodeJobRefuses(t *testing.T) {
	t.Parallel()
	const good = `"program":{"language":"python","source":"1"}`
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                      {``, "job: is empty: want a JSON object"},
		"null":                         {`null`, "job: is null: want an object"},
		"an array":                     {`[]`, "job: is a JSON array: want an object"},
		"half an object":               {`{"tenant":`, "job: ends in the middle"},
		"two objects":                  {`{` + good + `} {}`, "job: something follows the object"},
		"garbage at the end":           {`{` + good + `} x`, "job: something follows the object"},
		"an unknown field":             {`{` + good + `,"prioriti":1}`, `unknown field "prioriti"`},
		"an unknown field of program":  {`{"program":{"language":"python","source":"1","cmd":"x"}}`, `unknown field "cmd"`},
		"a number as tenant":           {`{` + good + `,"tenant":7}`, "tenant: is a JSON number: want a string"},
		"a string as follow":           {`{` + good + `,"follow":"yes"}`, "follow: is a JSON string: want true or false"},
		"a string as a limit":          {`{"program":{"language":"python","source":"1","limits":{"pids":"many"}}}`, "program.limits.pids: is a JSON string: want a number that fits int"},
		"a limit that does not fit":    {`{"program":{"language":"python","source":"1","limits":{"pids":1e99}}}`, "program.limits.pids: is a JSON number 1e99"},
		"a string as arguments":        {`{"program":{"language":"python","source":"1","args":"-v"}}`, "program.args: is a JSON string: want an array"},
		"an unknown queue":             {`{` + good + `,"queue":"urgent"}`, `queue: "urgent" is unknown: want one of interactive, default, batch`},
		"an id with a brace":           {`{` + good + `,"id":"a}b"}`, `id: "a}b": want up to 64 letters`},
		"an id that is too long":       {`{` + good + `,"id":"` + strings.Repeat("a", 65) + `"}`, "id: "},
		"an id that is not the key's":  {`{` + good + `,"id":"a","idempotency_key":"b"}`, "is not the id of the idempotency key"},
		"a tenant that is too long":    {`{` + good + `,"tenant":"` + strings.Repeat("a", 129) + `"}`, "tenant: is 129 bytes: want at most 128"},
		"a trace that is none":         {`{` + good + `,"traceparent":"00-12"}`, `traceparent: "00-12": want one of W3C Trace Context`},
		"a key with a line break":      {`{` + good + `,"idempotency_key":"a\nb"}`, "unprintable character U+000A"},
		"no program":                   {`{}`, "program: language: is empty"},
		"a file outside the workspace": {`{"program":{"language":"c","files":[{"path":"../x","data":""}]}}`, "files[0].path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := DecodeJob([]byte(test.text))
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDecodeJobNamesEveryProblemOfAJob(t *testing.T) {
	t.Parallel()
	_, err := DecodeJob([]byte(`{"id":"{}","queue":"x","program":{}}`))
	for _, want := range []string{"id: ", "queue: ", "program: language"} {
		require.ErrorContains(t, err, want)
	}
}

func TestDecodeJobRefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	_, err := DecodeJob(make([]byte, 96<<20+1))
	require.EqualError(t, err, "job: is 100663297 bytes: want at most 100663296")
}

// The values are from Python's hashlib and base64.
func TestKeyedIDIsTheHashOfTenantAndKey(t *testing.T) {
	t.Parallel()
	require.Equal(t, "kjeczmdshz3kuqzljlxyretlk5g", KeyedID("alice", "build-17"))
	require.Equal(t, "kt3w7slokjgl2zigz7ammpi5mf6", KeyedID("alic", "ebuild-17"), "the border between tenant and key counts")
}

func TestHashIsOfTheContentAlone(t *testing.T) {
	t.Parallel()
	hash := func(j Job) string {
		_, hash, err := j.prepared(time.Now()).encode()
		require.NoError(t, err)
		return hash
	}
	first := job("1")
	again := first
	again.ID, again.SubmittedAt, again.Traceparent = "other", time.Unix(1, 0), traceparent
	require.Equal(t, hash(first), hash(again))
	for _, change := range []func(*Job){
		func(j *Job) { j.Program.Source = sandbox.Bytes("2") },
		func(j *Job) { j.Tenant = "bob" },
		func(j *Job) { j.Queue = Batch },
		func(j *Job) { j.Program.Stdin = sandbox.Bytes("x") },
	} {
		other := first
		change(&other)
		require.NotEqual(t, hash(first), hash(other))
	}
}

func FuzzDecodeJob(f *testing.F) {
	f.Add([]byte(`{"program":{"language":"python","source":"print(1)"}}`))
	f.Add([]byte(`{"queue":"batch","tenant":"a","idempotency_key":"k","program":{"language":"c","files":[{"path":"a/b.c","data":{"base64":"AA=="}}],"limits":{"wall_seconds":1.5}}}`))
	f.Add([]byte(`{"id":"x","submitted_at":"2024-05-06T07:08:09.1+02:00","program":{"language":"sh","source":"\ud800"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := DecodeJob(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(first)
		require.NoError(t, err)
		second, err := DecodeJob(text)
		require.NoError(t, err, "what was accepted once is accepted when written again: %s", text)
		again, err := json.Marshal(second)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
		id := first.prepared(time.Now()).ID
		require.True(t, validName(id, maxIDBytes), id)
	})
}
