package dockerproxy

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// fill puts into a volume what the volume's name says: other workers, of other installations too, run what is there.
func (p *Proxy) fill(ctx context.Context, c *call) error {
	content, err := onlyFile(c.body, strings.TrimPrefix(docker.InitPath, docker.InitDir+"/"))
	if err != nil {
		return err
	}
	if err := p.own(ctx, c, labels.RoleInitVolume); err != nil {
		return err
	}
	found, err := p.options.Docker.ContainerInspect(ctx, strings.Split(c.path, "/")[2])
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	for _, m := range found.Mounts {
		if m.Destination == docker.InitDir && initVolume.MatchString(m.Name) && strings.HasPrefix(hex.EncodeToString(sum[:]), strings.TrimPrefix(m.Name, "sandloop-init-")) {
			return nil
		}
	}
	return refuse("the program is not the one that the volume is named after")
}

// onlyFile is the content of an archive that holds one plain file.
func onlyFile(archive []byte, name string) ([]byte, error) {
	reader := tar.NewReader(bytes.NewReader(archive))
	header, err := reader.Next()
	if err != nil || header.Typeflag != tar.TypeReg || header.Name != name {
		return nil, refuse("want an archive of %s alone", name)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		return nil, refuse("the archive cannot be read: %v", err)
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		return nil, refuse("want an archive of %s alone", name)
	}
	return content, nil
}
