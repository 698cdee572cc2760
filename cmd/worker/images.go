package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// languagesByImage groups the languages by the image that they need.
func languagesByImage(languages *sandbox.Languages) map[string][]string {
	byImage := map[string][]string{}
	for _, row := range languages.All() {
		byImage[row.Image] = append(byImage[row.Image], row.Name)
	}
	return byImage
}

// imagesPresent tells which images of the languages the daemon has, and a sentence for each that it lacks.
func imagesPresent(ctx context.Context, docker *client.Client, languages *sandbox.Languages) (present []string, absent []string, err error) {
	byImage := languagesByImage(languages)
	for _, image := range slices.Sorted(maps.Keys(byImage)) {
		switch _, err := docker.ImageInspect(ctx, image); {
		case err == nil:
			present = append(present, image)
		case errdefs.IsNotFound(err):
			absent = append(absent, fmt.Sprintf("image %s is absent, so these do not run: %s. Get it with: %s",
				image, strings.Join(byImage[image], ", "), howToGet(image)))
		default:
			return nil, nil, fmt.Errorf("docker: inspect image %s: %w", image, err)
		}
	}
	return present, absent, nil
}

// howToGet is the command that makes an image of ours, or pulls one of others.
func howToGet(image string) string {
	if name, ours := strings.CutPrefix(image, "sandloop/"); ours {
		name, _, _ = strings.Cut(name, ":")
		return "scripts/setup.sh image " + name
	}
	return "docker pull " + image
}
