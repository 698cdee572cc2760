package supervisor

import (
	"fmt"
	"time"
)

// await asks until nothing is left, since the kernel gives some things back a moment after the process
// that had them is gone. Past until, what is left is an error.
func await(until time.Time, left func() (string, error)) error {
	for {
		what, err := left()
		if err != nil || what == "" {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("is left: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
