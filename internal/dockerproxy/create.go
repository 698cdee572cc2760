package dockerproxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// create lets a container through that internal/sandbox/docker would make: of a request is read what a worker can choose, a container is made of that,
// and the two must be the same. So whatever is added to the isolation is demanded here at once.
func (p *Proxy) create(ctx context.Context, c *call) error {
	spec, err := p.container(c)
	if err != nil {
		return err
	}
	if spec.Lane != nil {
		if err := p.hasLane(ctx, spec); err != nil {
			return err
		}
	}
	return p.knowsImage(ctx, spec.ImageID)
}

// container does all of create for which the daemon need not be asked. Of a gate the spec has the image alone.
func (p *Proxy) container(c *call) (docker.ContainerSpec, error) {
	var asked container.CreateRequest
	if err := decode(c.body, &asked); err != nil {
		return docker.ContainerSpec{}, err
	}
	if asked.Config == nil || asked.HostConfig == nil {
		return docker.ContainerSpec{}, refuse("want a configuration of container and host")
	}
	if name := c.query.Get("name"); !ourName.MatchString(name) {
		return docker.ContainerSpec{}, refuse("the name %.80q is not one of sandloop's", name)
	}
	if !p.isOurs(asked.Labels[labels.Installation]) {
		return docker.ContainerSpec{}, refuse("want the label %s", labels.Installation)
	}
	var wanted container.CreateRequest
	var spec docker.ContainerSpec
	var err error
	switch asked.Labels[labels.Role] {
	case labels.RoleEgress:
		wanted.Config, wanted.HostConfig, err = p.gate(asked)
		spec.ImageID = asked.Image
	case labels.RoleInitVolume:
		if spec, err = p.specOf(asked); err == nil {
			wanted.Config, wanted.HostConfig = docker.FillConfig(spec)
		}
	default:
		if spec, err = p.specOf(asked); err == nil {
			wanted.Config, wanted.HostConfig = docker.HostConfig(spec)
		}
	}
	if err == nil {
		err = same(asked, wanted)
	}
	if err != nil {
		return spec, err
	}
	c.body, _ = json.Marshal(wanted) // it was decoded from JSON
	return spec, nil
}

// specOf reads what a worker can choose. What is not readable is left empty, so that the comparison fails.
func (p *Proxy) specOf(asked container.CreateRequest) (docker.ContainerSpec, error) {
	set, host := asked.Labels, asked.HostConfig
	spec := docker.ContainerSpec{
		ImageID: asked.Image, Worker: set[labels.Owner], Installation: set[labels.Installation], Job: set[labels.Job],
		Network: host.NetworkMode == "bridge", Runtime: host.Runtime, Seccomp: p.options.Seccomp, CgroupV2: host.CgroupnsMode == container.CgroupnsModePrivate,
	}
	spec.GVisor = slices.Contains(p.options.GVisor, spec.Runtime)
	spec.Attempt, _ = strconv.Atoi(set[labels.Attempt])
	expires, _ := strconv.ParseInt(set[labels.Expires], 10, 64)
	spec.Expires = time.Unix(expires, 0)
	if len(asked.Cmd) == 1 {
		spec.Deadline, _ = time.ParseDuration(strings.TrimPrefix(asked.Cmd[0], "--deadline="))
	}
	if mode := string(host.NetworkMode); docker.IsLaneName(mode) {
		spec.Network, spec.Lane = true, &docker.Lane{Network: mode}
		if len(host.DNS) > 0 {
			spec.Lane.Proxy, _ = netip.ParseAddr(host.DNS[0])
		}
	}
	for _, m := range host.Mounts {
		switch m.Type {
		case mount.TypeVolume:
			spec.InitVolume = m.Source
		case mount.TypeTmpfs:
			spec.ImageVolumes = append(spec.ImageVolumes, m.Target)
		default:
			return spec, refuse("a mount of type %.20q", m.Type)
		}
	}
	switch {
	case !initVolume.MatchString(spec.InitVolume):
		return spec, refuse("the volume %.80q is not one of sandloop's", spec.InitVolume)
	case spec.Lane != nil && p.options.Egress == nil:
		return spec, errNoRules
	case spec.Network && spec.Lane == nil && !p.options.Network:
		return spec, refuse("sandboxes have no network here (sandbox.allow_network)")
	case set[labels.Role] == labels.RoleInitVolume:
		return spec, nil // it has no limits and the daemon's runtime, since it is never started
	case !slices.Contains(p.options.Runtimes, spec.Runtime):
		return spec, refuse("the runtime %.40q is not among those of the configuration", spec.Runtime)
	}
	var err error
	spec.Limits, err = p.limitsOf(host, spec.GVisor)
	return spec, err
}

// limitsOf reads the limits of a container.
func (p *Proxy) limitsOf(host *container.HostConfig, gVisor bool) (sandbox.Limits, error) {
	limits, err := p.changeable(host.Resources, gVisor)
	if err != nil {
		return limits, err
	}
	limits.Tmp, limits.Workspace = sizeOf(host.Tmpfs["/tmp"]), sizeOf(host.Tmpfs["/workspace"])
	for _, limit := range host.Ulimits {
		if limit != nil && limit.Name == "nofile" {
			limits.OpenFiles = limit.Hard
		}
	}
	maxima := p.options.Maxima
	return limits, errors.Join(
		within("tmp", limits.Tmp, maxima.Tmp), within("workspace", limits.Workspace, maxima.Workspace), within("open_files", limits.OpenFiles, maxima.OpenFiles),
	)
}

// changeable reads the limits that can be changed in a running container.
func (p *Proxy) changeable(r container.Resources, gVisor bool) (sandbox.Limits, error) {
	limits := sandbox.Limits{Memory: r.Memory, CPUs: float64(r.CPUQuota) / docker.CPUPeriod}
	if r.PidsLimit != nil {
		limits.PIDs = docker.PIDsOf(*r.PidsLimit, gVisor)
	}
	maxima := p.options.Maxima
	return limits, errors.Join(
		within("memory", limits.Memory, maxima.Memory), within("cpus", limits.CPUs, maxima.CPUs), within("pids", limits.PIDs, maxima.PIDs),
	)
}

// within refuses what Docker takes for no limit, too.
func within[T cmp.Ordered](name string, value, most T) error {
	var none T
	if value <= none || value > most {
		return refuse("the limit %s is %v: want more than 0 and at most %v (limits.maxima)", name, value, most)
	}
	return nil
}

var sizeOption = regexp.MustCompile(`,size=([0-9]{1,18}),`)

func sizeOf(options string) (size int64) {
	if match := sizeOption.FindStringSubmatch(options); match != nil {
		size, _ = strconv.ParseInt(match[1], 10, 64)
	}
	return size
}

// knowsImage refuses images that no language has: the host's others may hold secrets.
func (p *Proxy) knowsImage(ctx context.Context, id string) error {
	for _, name := range p.options.Images {
		found, err := p.options.Docker.ImageInspect(ctx, name)
		if err == nil && found.ID == id {
			return nil
		}
		if client.IsErrConnectionFailed(err) {
			return err
		}
	}
	return refuse("the image %.80q is none that a language has", id)
}

// decode reads a body whole and strictly.
func decode(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return refuse("the body cannot be read: %v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return refuse("something follows the body")
	}
	return nil
}

// same compares what was asked for with what a worker would ask for, field by field.
func same(asked, wanted any) error {
	left, err := fieldsOf(asked)
	if err != nil {
		return err
	}
	right, err := fieldsOf(wanted)
	if err != nil {
		return err
	}
	if difference := differ("", left, right); difference != "" {
		return refuse("%s", difference)
	}
	return nil
}

// fieldsOf is a value as the daemon reads it.
func fieldsOf(value any) (fields map[string]any, err error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		return nil, refuse("the body cannot be compared: %v", err)
	}
	return fields, nil
}

// differ names the first field that is not the same.
func differ(field string, asked, wanted any) string {
	left, isMap := asked.(map[string]any)
	right, wantsMap := wanted.(map[string]any)
	if !isMap || !wantsMap {
		if reflect.DeepEqual(asked, wanted) {
			return ""
		}
		return fmt.Sprintf("%s is %.200v: want %.200v", strings.TrimPrefix(field, "."), shown(asked), shown(wanted))
	}
	names := make([]string, 0, len(left)+len(right))
	for _, fields := range []map[string]any{left, right} {
		for name := range fields {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if difference := differ(field+"."+name, left[name], right[name]); difference != "" {
			return difference
		}
	}
	return ""
}

func shown(value any) string {
	text, _ := json.Marshal(value) // it was decoded from JSON
	return string(text)
}
