package supervisor

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(threadsChild) != "" {
		fmt.Println(bringThreads())
		return
	}
	goleak.VerifyTestMain(m)
}
