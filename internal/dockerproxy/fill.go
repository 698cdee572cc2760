package dockerproxy

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/sandloop/sandloop/internal/egress"
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
	contents, err := onlyFiles(c.body, docker.InitPath)
	if err != nil {
		return err
	}
	content := contents[0]
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

// fillGate lets a gate have the proxy's own egress-proxy and rules: another program would have the whole of network.outgoing, and other rules
// what they say.
func (p *Proxy) fillGate(ctx context.Context, c *call) error {
	contents, err := onlyFiles(c.body, "/"+docker.EgressName, "/"+docker.EgressRules)
	if err != nil {
		return err
	}
	if err := p.own(ctx, c, labels.RoleEgress); err != nil {
		return err
	}
	e := p.options.Egress
	rules, err := egress.EncodeRules(e.Rules)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(contents[0], e.Program):
		return refuse("the program is not the %s that docker-proxy has (network.proxy_path)", docker.EgressName)
	case !bytes.Equal(contents[1], rules):
		return refuse("the rules are not those that docker-proxy has (network.rules)")
	}
	c.body, err = docker.ArchiveGate(e.Program, e.Rules)
	return err
}

// onlyFiles are the contents of the plain files that an archive holds, whose paths and order are wanted. The folder of the first may be there, too.
func onlyFiles(archive []byte, wanted ...string) (contents [][]byte, err error) {
	notAlone := refuse("want an archive of %s alone", strings.ReplaceAll(strings.Join(wanted, " and ")[1:], " /", " "))
	reader := tar.NewReader(bytes.NewReader(archive))
	header, err := reader.Next()
	if err == nil && header.Typeflag == tar.TypeDir && "/"+header.Name == wanted[0][:strings.LastIndex(wanted[0], "/")+1] {
		header, err = reader.Next()
	}
	for _, path := range wanted {
		if err != nil || header.Typeflag != tar.TypeReg || "/"+header.Name != path {
			return nil, notAlone
		}
		content, readErr := io.ReadAll(reader)
		if readErr != nil {
			return nil, refuse("the archive cannot be read: %v", readErr)
		}
		contents = append(contents, content)
		header, err = reader.Next()
	}
	if !errors.Is(err, io.EOF) {
		return nil, notAlone
	}
	return contents, nil
}
