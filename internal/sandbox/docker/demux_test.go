package docker

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/docker/docker/pkg/stdcopy"
	"github.com/stretchr/testify/require"
)

func TestDemuxSeparatesStreams(t *testing.T) {
	t.Parallel()
	var both bytes.Buffer
	stdout, stderr := stdcopy.NewStdWriter(&both, stdcopy.Stdout), stdcopy.NewStdWriter(&both, stdcopy.Stderr)
	for range 100 {
		_, _ = io.WriteString(stdout, "out")
		_, _ = io.WriteString(stdout, "")
		_, _ = io.WriteString(stderr, strings.Repeat("err", 100))
	}
	for name, r := range map[string]io.Reader{"at once": bytes.NewReader(both.Bytes()), "byte by byte": iotest.OneByteReader(bytes.NewReader(both.Bytes()))} {
		d := &demux{r: r}
		got, err := io.ReadAll(d)
		require.NoError(t, err, name)
		require.Equal(t, strings.Repeat("out", 100), string(got), name)
		require.Equal(t, strings.Repeat("err", 1366)[:4096], d.complaint(), "%s: the first 4096 bytes", name)
	}
}

func TestDemuxErrors(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]string{
		"cut header":     "\x01\x00\x00",
		"unknown stream": "\x07\x00\x00\x00\x00\x00\x00\x01x",
		"cut stderr":     "\x02\x00\x00\x00\x00\x00\x00\x09x",
	} {
		_, err := io.ReadAll(&demux{r: strings.NewReader(stream)})
		require.Error(t, err, name)
	}
}
