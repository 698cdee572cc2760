package toolbox

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// maxImages bounds the images of a result, and maxImageBytes each of them: providers refuse larger ones.
	maxImages     = 4
	maxImageBytes = 2 << 20
	// readTime bounds how long images are read from the session.
	readTime = 10 * time.Second
)

// imageTypes are the types of images that providers take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// imageType tells the type of a file by its content, and whether it is an image that can be shown.
func imageType(data []byte) (mime string, shown bool) {
	mime, _, _ = strings.Cut(http.DetectContentType(data), ";")
	return mime, slices.Contains(imageTypes, mime)
}

// figures are the images that a job made, with a line about each.
func (t *Toolbox) figures(ctx context.Context, w work, record jobs.Record) (images []agent.Image, lines []string) {
	for _, file := range t.made(ctx, w, record) {
		mime, isImage := imageType(file.Data)
		switch {
		case !isImage:
			continue
		case len(file.Data) > maxImageBytes:
			lines = append(lines, fmt.Sprintf("[%s is not attached: it has %d bytes, want at most %d]", file.Path, len(file.Data), maxImageBytes))
		case len(images) == maxImages:
			lines = append(lines, fmt.Sprintf("[%s is not attached: there are %d images already]", file.Path, maxImages))
		default:
			images = append(images, agent.Image{Path: file.Path, MIME: mime, Data: file.Data})
			lines = append(lines, fmt.Sprintf("[%s is attached: %s, %d bytes]", file.Path, mime, len(file.Data)))
		}
	}
	return images, lines
}

// made are the files that a job made and that may be images. Those that a live interpreter shows come with the
// result, and so do those of a job without a session; other images of a session are read from it.
func (t *Toolbox) made(ctx context.Context, w work, record jobs.Record) []sandbox.File {
	given := map[string]bool{}
	for _, file := range w.files {
		given[file.Path] = true
	}
	var files []sandbox.File
	for _, file := range record.Result.Files {
		if !given[file.Path] {
			files = append(files, file)
		}
	}
	if len(files) > 0 || record.Session == nil {
		return files
	}
	wanted := map[string]bool{}
	for _, path := range record.Session.Written {
		if !given[path] && looksLikeImage(path) {
			wanted[path] = true
		}
	}
	return t.read(ctx, wanted)
}

func looksLikeImage(path string) bool {
	return slices.ContainsFunc(pictures, func(pattern string) bool { return sandbox.MatchPattern(pattern, strings.ToLower(path)) })
}

// read returns some files of the session. Those that cannot be read are left out: the result names them anyway.
func (t *Toolbox) read(ctx context.Context, wanted map[string]bool) (files []sandbox.File) {
	if len(wanted) == 0 || t.options.Workspace == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	all, err := t.options.Workspace.Files(ctx, t.options.session())
	if err != nil {
		return nil
	}
	for _, file := range all {
		if wanted[file.Path] {
			files = append(files, file)
		}
	}
	return files
}
