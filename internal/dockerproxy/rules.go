package dockerproxy

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// rule is what is asked of a request with a method and a path.
type rule struct {
	method string
	path   *regexp.Regexp
	// query are the parameters that may be given, each with the values that it may have, or any if there are none.
	query map[string][]string
	// apply checks the rest, and makes the call what is forwarded.
	apply func(p *Proxy, ctx context.Context, c *call) error
}

const (
	anyName = `([a-zA-Z0-9][a-zA-Z0-9_.-]{0,255})`
	yes     = "1"
)

// rules is every request that internal/sandbox/docker, internal/reaper and the worker's checks make.
var rules = []rule{
	{http.MethodGet, path(`/_ping`), nil, (*Proxy).plain},
	{http.MethodHead, path(`/_ping`), nil, (*Proxy).plain},
	{http.MethodGet, path(`/version`), nil, (*Proxy).plain},
	{http.MethodGet, path(`/info`), nil, (*Proxy).plain},
	{http.MethodGet, path(`/images/([a-zA-Z0-9][a-zA-Z0-9_.:/@-]{0,255})/json`), nil, (*Proxy).image},
	{http.MethodGet, path(`/events`), map[string][]string{"since": {yes}, "filters": nil}, (*Proxy).events},

	{http.MethodGet, path(`/containers/json`), map[string][]string{"all": {yes}, "filters": nil}, (*Proxy).list},
	{http.MethodPost, path(`/containers/create`), map[string][]string{"name": nil}, (*Proxy).create},
	{http.MethodGet, path(`/containers/` + anyName + `/json`), nil, of(labels.RoleSandbox, labels.RoleInitVolume, labels.RoleEgress)},
	{http.MethodPost, path(`/containers/` + anyName + `/start`), nil, of(labels.RoleSandbox, labels.RoleEgress)},
	{
		http.MethodPost, path(`/containers/` + anyName + `/attach`),
		map[string][]string{"stream": {yes}, "stdin": {yes}, "stdout": {yes}, "stderr": {yes}},
		(*Proxy).attach,
	},
	{http.MethodPost, path(`/containers/` + anyName + `/wait`), map[string][]string{"condition": {"removed"}}, of(labels.RoleSandbox, labels.RoleEgress)},
	{http.MethodPost, path(`/containers/` + anyName + `/rename`), map[string][]string{"name": nil}, (*Proxy).rename},
	{http.MethodPost, path(`/containers/` + anyName + `/update`), nil, (*Proxy).update},
	{
		http.MethodDelete, path(`/containers/` + anyName),
		map[string][]string{"force": {yes}, "v": {yes}},
		of(labels.RoleSandbox, labels.RoleInitVolume, labels.RoleEgress),
	},
	// A container of the volume's role is never started, so what is put into it is sandbox-init and nothing that runs.
	{http.MethodHead, path(`/containers/` + anyName + `/archive`), map[string][]string{"path": {docker.InitPath}}, of(labels.RoleInitVolume)},
	{
		http.MethodPut, path(`/containers/` + anyName + `/archive`),
		map[string][]string{"path": {"/", docker.InitDir}, "noOverwriteDirNonDir": {"true"}},
		(*Proxy).fill,
	},

	{http.MethodPost, path(`/volumes/create`), nil, (*Proxy).createVolume},
	{http.MethodGet, path(`/volumes`), map[string][]string{"filters": nil}, (*Proxy).list},
	{http.MethodDelete, path(`/volumes/` + anyName), nil, (*Proxy).removeVolume},

	{http.MethodPost, path(`/networks/create`), nil, (*Proxy).createLane},
	{http.MethodPost, path(`/networks/` + anyName + `/connect`), nil, (*Proxy).connectGate},
	{http.MethodPost, path(`/networks/` + anyName + `/disconnect`), nil, (*Proxy).disconnectGate},
	// The reaper removes what a dead worker left, also one that had the daemon itself or other settings.
	{http.MethodGet, path(`/networks`), map[string][]string{"filters": nil}, (*Proxy).list},
	{http.MethodDelete, path(`/networks/` + anyName), nil, (*Proxy).removeLane},
}

func path(pattern string) *regexp.Regexp { return regexp.MustCompile(`^` + pattern + `$`) }

// rule returns what is to be applied to a call, or nil if workers do not make it.
func (p *Proxy) rule(c *call) func(context.Context, *call) error {
	for _, r := range rules {
		match := r.path.FindStringSubmatch(c.path)
		if r.method != c.method || match == nil {
			continue
		}
		c.names = match[1:]
		return func(ctx context.Context, c *call) error {
			for name, values := range c.query {
				allowed, known := r.query[name]
				if !known || len(allowed) > 0 && !slices.Contains(allowed, values[0]) {
					return refuse("workers do not give the parameter %.40q the value %.80q", name, values[0])
				}
			}
			return r.apply(p, ctx, c)
		}
	}
	return nil
}

// plain has nothing to check and no body.
func (p *Proxy) plain(_ context.Context, c *call) error {
	c.body = nil
	return nil
}

// image tells of those images alone that sandboxes may have.
func (p *Proxy) image(_ context.Context, c *call) error {
	c.body = nil
	if !slices.Contains(p.options.Images, c.names[0]) {
		return refuse("the image is none that a language has")
	}
	return nil
}

// events are of one container, by its full id.
func (p *Proxy) events(_ context.Context, c *call) error {
	c.body = nil
	given, err := filters.FromJSON(c.query.Get("filters"))
	if err != nil {
		return refuse("the filters cannot be read: %v", err)
	}
	ids := given.Get("container")
	if len(ids) != 1 || !fullID.MatchString(ids[0]) || !slices.Equal(given.Get("type"), []string{"container"}) || given.Len() != 2 {
		return refuse("want events of one container by its id")
	}
	return refilter(c, given)
}

var fullID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// list lists what bears the labels.
func (p *Proxy) list(_ context.Context, c *call) error {
	c.body = nil
	given, err := filters.FromJSON(c.query.Get("filters"))
	if err != nil {
		return refuse("the filters cannot be read: %v", err)
	}
	if !slices.ContainsFunc(given.Get("label"), func(label string) bool {
		installation, found := strings.CutPrefix(label, labels.Installation+"=")
		return found && p.isOurs(installation)
	}) {
		return refuse("want the label %s among the filters", labels.Installation)
	}
	return refilter(c, given)
}

// refilter writes filters anew.
func refilter(c *call, given filters.Args) error {
	text, err := filters.ToJSON(given)
	if err != nil {
		return refuse("the filters cannot be written: %v", err)
	}
	c.query.Set("filters", text)
	return nil
}

// isOurs tells whether an installation may be served.
func (p *Proxy) isOurs(installation string) bool {
	return installation != "" && (p.options.Installation == "" || installation == p.options.Installation)
}

// of is for calls without a body on a container with one of the roles.
func of(roles ...string) func(*Proxy, context.Context, *call) error {
	return func(p *Proxy, ctx context.Context, c *call) error {
		c.body = nil
		return p.own(ctx, c, roles...)
	}
}

// own makes sure that a container is ours, and names it by its id from then on: a name may be another's a moment later.
func (p *Proxy) own(ctx context.Context, c *call, roles ...string) error {
	name := c.names[0]
	id, role, err := p.ownID(ctx, name, roles...)
	if err != nil {
		return err
	}
	// Where jobs have no network a gate that is left can go, and do nothing else.
	if role == labels.RoleEgress && p.options.Egress == nil && c.method != http.MethodGet && c.method != http.MethodDelete {
		return errNoRules
	}
	c.path = strings.Replace(c.path, "/containers/"+name, "/containers/"+id, 1)
	return nil
}

// ownID is the id and the role of a container that is ours and has one of the roles.
func (p *Proxy) ownID(ctx context.Context, name string, roles ...string) (id, role string, err error) {
	p.mu.Lock()
	role, known := p.ours[name]
	p.mu.Unlock()
	id = name
	if !known {
		found, err := p.options.Docker.ContainerInspect(ctx, name)
		if err != nil {
			return "", "", err
		}
		if found.Config == nil {
			return "", "", refuse("the container is none of sandloop's")
		}
		role = found.Config.Labels[labels.Role]
		installation := found.Config.Labels[labels.Installation]
		// Installations share the volume of one sandbox-init, and so the container that is the lock on its filling.
		if shared := role == labels.RoleInitVolume && installation != ""; !shared && !p.isOurs(installation) {
			return "", "", refuse("the container is none of sandloop's")
		}
		id = found.ID
		p.remember(id, role)
	}
	if !slices.Contains(roles, role) {
		return "", "", refuse("the container is a %.40q, with which workers do not do this", role)
	}
	return id, role, nil
}

// remembered is how many containers are remembered; beyond it all are looked at anew.
const remembered = 4096

func (p *Proxy) remember(id, role string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ours) >= remembered {
		clear(p.ours)
	}
	p.ours[id] = role
}

func (p *Proxy) attach(ctx context.Context, c *call) error {
	c.body, c.upgrade = nil, true
	return p.own(ctx, c, labels.RoleSandbox, labels.RoleEgress)
}

var ourName = regexp.MustCompile(`^sandloop-[a-zA-Z0-9_.-]{1,240}$`)

func (p *Proxy) rename(ctx context.Context, c *call) error {
	c.body = nil
	if name := c.query.Get("name"); !ourName.MatchString(name) {
		return refuse("the name %.80q is not one of sandloop's", name)
	}
	return p.own(ctx, c, labels.RoleSandbox)
}

// update changes the limits of a container, and within the maxima.
func (p *Proxy) update(ctx context.Context, c *call) error {
	var asked container.UpdateConfig
	if err := decode(c.body, &asked); err != nil {
		return err
	}
	limits, err := p.changeable(asked.Resources, false)
	if err != nil {
		return err
	}
	wanted := container.UpdateConfig{Resources: docker.ChangeableResources(limits)}
	if err := same(asked, wanted); err != nil {
		return err
	}
	c.body, _ = json.Marshal(wanted) // it was decoded from JSON
	return p.own(ctx, c, labels.RoleSandbox)
}

var initVolume = regexp.MustCompile(`^sandloop-init-[0-9a-f]{32}$`)

// createVolume makes a volume of ours on the daemon's own disk: a driver's options can name any folder of the host.
func (p *Proxy) createVolume(_ context.Context, c *call) error {
	var asked volume.CreateOptions
	if err := decode(c.body, &asked); err != nil {
		return err
	}
	if !initVolume.MatchString(asked.Name) || !p.isOurs(asked.Labels[labels.Installation]) {
		return refuse("the volume %.80q is not one of sandloop's", asked.Name)
	}
	wanted := volume.CreateOptions{Name: asked.Name, Labels: docker.VolumeLabels(asked.Labels[labels.Installation])}
	if err := same(asked, wanted); err != nil {
		return err
	}
	c.body, _ = json.Marshal(wanted) // it was decoded from JSON
	return nil
}

func (p *Proxy) removeVolume(ctx context.Context, c *call) error {
	c.body = nil
	found, err := p.options.Docker.VolumeInspect(ctx, c.names[0])
	if err != nil {
		return err
	}
	if !p.isOurs(found.Labels[labels.Installation]) || found.Labels[labels.Role] != labels.RoleInitVolume {
		return refuse("the volume is none of sandloop's")
	}
	return nil
}
