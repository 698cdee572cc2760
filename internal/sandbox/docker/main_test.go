package docker

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/docker/docker/client"
	"go.uber.org/goleak"
)

// usedVolumes are the volumes of sandbox-init that the tests' runners used. They outlive the
// runners by design, and so must be removed when all tests have ended.
var usedVolumes sync.Map

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := removeUsedVolumes(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}))
}

func removeUsedVolumes() error {
	docker, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return err
	}
	defer func() { _ = docker.Close() }()
	usedVolumes.Range(func(name, _ any) bool {
		// One that another package's test uses stays; one that is gone is as it should be.
		_ = docker.VolumeRemove(context.Background(), name.(string), false)
		return true
	})
	return nil
}
