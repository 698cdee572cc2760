package dockerproxy

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// fill puts sandbox-init into a volume or egress-proxy into a gate, and writes the archive anew: nothing else that one can say of a file gets through.
func (p *Proxy) fill(ctx context.Context, c *call) error {
	// A gate is filled in its folder, a volume from the root of its container.
	if c.query.Get("path") == docker.InitDir {
		return p.fillGate(ctx, c)
	}
	return p.fillVolume(ctx, c)
}

// fillVolume puts into a volume what the volume's name says: other workers, of other installations too, run what is there.
func (p *Proxy) fillVolume(ctx context.Context, c *call) error {
	content, err := onlyFile(c.body, docker.InitPath)
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
	for _, m := range found.Mounts {
		for _, gVisor := range []bool{false, true} {
			if m.Destination == docker.InitDir && m.Name == docker.InitVolumeName(content, gVisor) {
				c.body, err = docker.ArchiveInit(content, gVisor)
				return err
			}
		}
	}
	return refuse("the program is not the one that the volume is named after")
}

// fillGate lets a gate have the proxy's own egress-proxy: another program would have the whole of network.outgoing.
func (p *Proxy) fillGate(ctx context.Context, c *call) error {
	content, err := onlyFile(c.body, "/"+docker.EgressName)
	if err != nil {
		return err
	}
	if err := p.own(ctx, c, labels.RoleEgress); err != nil {
		return err
	}
	if !bytes.Equal(content, p.options.Egress.Program) {
		return refuse("the program is not the %s that docker-proxy has (network.proxy_path)", docker.EgressName)
	}
	c.body, err = docker.ArchiveGate(content)
	return err
}

// onlyFile is the content of the one plain file that an archive holds, whose path is wanted. Its folder may be there, too.
func onlyFile(archive []byte, wanted string) (content []byte, err error) {
	notAlone := refuse("want an archive of %s alone", wanted[1:])
	reader := tar.NewReader(bytes.NewReader(archive))
	header, err := reader.Next()
	if err == nil && header.Typeflag == tar.TypeDir && "/"+header.Name == wanted[:strings.LastIndex(wanted, "/")+1] {
		header, err = reader.Next()
	}
	if err != nil || header.Typeflag != tar.TypeReg || "/"+header.Name != wanted {
		return nil, notAlone
	}
	content, err = io.ReadAll(reader)
	if err != nil {
		return nil, refuse("the archive cannot be read: %v", err)
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		return nil, notAlone
	}
	return content, nil
}
