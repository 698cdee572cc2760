package check

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// byDigest is a name with a tag, for people, and the digest that decides.
var byDigest = regexp.MustCompile(`^[a-z0-9./-]+:[a-zA-Z0-9._-]+@sha256:[0-9a-f]{64}$`)

// What a registry could swap under its name is named by digest. Images of sandloop itself are the operator's.
func TestImagesOfOthersArePinnedByDigest(t *testing.T) {
	var images []string
	for _, pod := range kubernetes(t).pods() {
		for _, c := range containers(pod) {
			images = append(images, c.Image)
		}
	}
	for _, service := range swarm(t) {
		images = append(images, service.Image)
	}
	base := regexp.MustCompile(`(?m)^ARG BASE=(.*)$`).FindSubmatch(read(t, "../../images/Dockerfile"))
	require.NotNil(t, base, "no base")
	redis := regexp.MustCompile(`image: \$\{SANDLOOP_REDIS_IMAGE:-(.*)\}`).FindSubmatch(read(t, "../../docker-compose.yml"))
	require.NotNil(t, redis, "no Redis")
	images = append(images, string(base[1]), string(redis[1]))
	slices.Sort(images)
	images = slices.DeleteFunc(slices.Compact(images), func(image string) bool {
		return strings.HasPrefix(image, "registry.example.com/sandloop/")
	})
	require.Len(t, images, 3, "Debian, Docker and Redis, each in one version: %v", images)
	for _, image := range images {
		require.Regexp(t, byDigest, image)
	}
}
