package supervisor

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// threadsChild makes the test binary a process that only brings itself to a number of threads.
const threadsChild = "SANDLOOP_TEST_THREADS"

// bringThreads returns how many threads there are in the end, after work that uses several.
func bringThreads() (int, error) {
	runtime.GOMAXPROCS(2)
	if err := startThreads(32); err != nil {
		return 0, err
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			for range 50 {
				_, _ = os.ReadFile("/proc/self/status")
			}
			runtime.GC()
		})
	}
	group.Wait()
	return threadCount()
}

func TestThreadsAreExactlySoManyEachTime(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	var group sync.WaitGroup
	outputs := make(chan string, 100)
	for range 10 { // so many at once that they take the processors from each other
		group.Go(func() {
			for range 10 {
				child := exec.CommandContext(t.Context(), self)
				child.Env = append(os.Environ(), threadsChild+"=1")
				out, err := child.CombinedOutput()
				outputs <- strings.TrimSpace(string(out))
				if err != nil {
					outputs <- err.Error()
				}
			}
		})
	}
	group.Wait()
	close(outputs)
	for output := range outputs {
		require.Equal(t, "32 <nil>", output)
	}
}
