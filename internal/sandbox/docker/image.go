package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"
)

// ErrImageAbsent means that the daemon does not have a language's image.
var ErrImageAbsent = errors.New("image is absent")

// imageTTL is how long a name is taken to mean the same image.
const imageTTL = 10 * time.Second

// image is what a run needs to know of an image.
type image struct {
	// id is its digest.
	id string
	// volumes are the paths that it declares as volumes.
	volumes []string
}

// images remembers what names mean.
type images struct {
	docker *client.Client

	mu    sync.Mutex
	known map[string]knownImage
}

type knownImage struct {
	image
	at time.Time
}

// resolve looks an image up by its name. The error wraps ErrImageAbsent if the daemon has none.
func (i *images) resolve(ctx context.Context, name string) (image, error) {
	i.mu.Lock()
	known, found := i.known[name]
	i.mu.Unlock()
	if found && time.Since(known.at) < imageTTL {
		return known.image, nil
	}
	inspected, err := i.docker.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return image{}, fmt.Errorf("image %s is not on this Docker daemon: run 'make setup' or 'docker pull %s': %w", name, name, ErrImageAbsent)
	}
	if err != nil {
		return image{}, fmt.Errorf("inspect image %s: %w", name, err)
	}
	resolved := image{id: inspected.ID}
	if inspected.Config != nil {
		resolved.volumes = slices.Sorted(maps.Keys(inspected.Config.Volumes))
	}
	i.mu.Lock()
	i.known[name] = knownImage{resolved, time.Now()}
	i.mu.Unlock()
	return resolved, nil
}

// volumesOf returns the volumes that an image declares, which was resolved before.
func (i *images) volumesOf(id string) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, known := range i.known {
		if known.id == id {
			return known.volumes
		}
	}
	return nil
}
