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

// initName is the file that a volume of ours holds.
var initName = strings.TrimPrefix(docker.InitPath, docker.InitDir+"/")

// fill puts sandbox-init into a volume or egress-proxy into a gate, and writes the archive anew: nothing else that one can say of a file gets through.
func (p *Proxy) fill(ctx context.Context, c *call) error {
	name, content, err := onlyFile(c.body)
	if err != nil {
		return err
	}
	switch name {
	case initName:
		err = p.fillVolume(ctx, c, content)
	case docker.EgressName:
		err = p.fillGate(ctx, c, content)
	default:
		err = errNotAlone
	}
	if err != nil {
		return err
	}
	c.body, err = docker.ArchiveProgram(name, content)
	return err
}

// fillVolume puts into a volume what the volume's name says: other workers, of other installations too, run what is there.
func (p *Proxy) fillVolume(ctx context.Context, c *call, content []byte) error {
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

// fillGate lets a gate have the proxy's own egress-proxy: another program would have the whole of network.outgoing.
func (p *Proxy) fillGate(ctx context.Context, c *call, content []byte) error {
	if err := p.own(ctx, c, labels.RoleEgress); err != nil {
		return err
	}
	if !bytes.Equal(content, p.options.Egress.Program) {
		return refuse("the program is not the %s that docker-proxy has (network.proxy_path)", docker.EgressName)
	}
	return nil
}

var errNotAlone = refuse("want an archive of %s alone or of %s alone", initName, docker.EgressName)

// onlyFile is the name and the content of the one plain file that an archive holds.
func onlyFile(archive []byte) (name string, content []byte, err error) {
	reader := tar.NewReader(bytes.NewReader(archive))
	header, err := reader.Next()
	if err != nil || header.Typeflag != tar.TypeReg {
		return "", nil, errNotAlone
	}
	content, err = io.ReadAll(reader)
	if err != nil {
		return "", nil, refuse("the archive cannot be read: %v", err)
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		return "", nil, errNotAlone
	}
	return header.Name, content, nil
}
