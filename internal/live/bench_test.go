package live_test

import (
	"bufio"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bare are programs that run each line that they read and then answer, without any sandbox.
var bare = map[string][]string{
	"python": {"python3", "-c", "import sys\nspace = {'x': 0}\nfor line in sys.stdin:\n    exec(line, space)\n    print(flush=True)"},
	"node": {"node", "-e", `globalThis.x = 0;
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  require('vm').runInThisContext(line);
  require('fs').writeSync(1, '\n');
});`},
}

// BenchmarkCell measures `x += 1` in an interpreter of half a processor, and as a ratio to the time that
// the bare interpreter takes for a line.
func BenchmarkCell(b *testing.B) {
	for language, argv := range bare {
		b.Run(language, func(b *testing.B) {
			s := start(b, language)
			s.do("x = 0;")
			cell := s.cell("x += 1;")
			for range 50 {
				s.run(cell)
			}
			var times []time.Duration
			for b.Loop() {
				from := time.Now()
				s.run(cell)
				times = append(times, time.Since(from))
			}
			slices.Sort(times)
			p50, alone := times[len(times)/2], bareTime(b, argv)
			b.ReportMetric(p50.Seconds()*1e3, "p50-ms")
			b.ReportMetric(times[len(times)*99/100].Seconds()*1e3, "p99-ms")
			b.ReportMetric(alone.Seconds()*1e3, "bare-ms")
			b.ReportMetric(p50.Seconds()/alone.Seconds(), "bare-ratio")
		})
	}
}

// bareTime is the median of how long a bare interpreter takes for a line.
func bareTime(b *testing.B, argv []string) time.Duration {
	b.Helper()
	command := exec.CommandContext(b.Context(), argv[0], argv[1:]...)
	in, err := command.StdinPipe()
	require.NoError(b, err)
	out, err := command.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, command.Start())
	answers := bufio.NewReader(out)
	var times []time.Duration
	for range 500 {
		from := time.Now()
		_, err := io.WriteString(in, "x += 1\n")
		require.NoError(b, err)
		_, err = answers.ReadString('\n')
		require.NoError(b, err)
		times = append(times, time.Since(from))
	}
	require.NoError(b, in.Close())
	require.NoError(b, command.Wait())
	slices.Sort(times[50:])
	return times[50+len(times[50:])/2]
}
