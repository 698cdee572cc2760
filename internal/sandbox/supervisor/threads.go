package supervisor

import (
	"fmt"
	"runtime"
	"sync"
)

// startThreads brings this process to exactly n threads. Go keeps threads that
// are idle and takes those before it makes another, so while fewer than n are busy it never makes one
// more: the kernel would refuse it when the job is at its limit of processes, and
// Go's runtime does not survive that.
func startThreads(n int) error {
	// With one processor for Go code a thread that is being made is counted before this
	// function goes on, as it goes on in that thread.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 64 {
		have, err := threadCount()
		if err != nil {
			return err
		}
		if have == n {
			return nil
		}
		if have > n {
			return fmt.Errorf("process has %d threads: want %d", have, n)
		}
		if err := occupyThreads(n); err != nil {
			return err
		}
	}
	return fmt.Errorf("process does not reach %d threads", n)
}

// occupyThreads locks goroutines to threads, one by one, until there are n threads, and lets them go.
func occupyThreads(n int) error {
	release := make(chan struct{})
	var held sync.WaitGroup
	defer held.Wait()
	defer close(release)
	for range n {
		locked := make(chan struct{})
		held.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread() // a locked goroutine that ends takes its thread with it
			close(locked)
			<-release
		})
		<-locked
		have, err := threadCount()
		if err != nil {
			return err
		}
		if have >= n {
			return nil
		}
	}
	return nil
}

func threadCount() (int, error) {
	count, err := readKey("/proc/self/status", "Threads:")
	return int(count), err
}
