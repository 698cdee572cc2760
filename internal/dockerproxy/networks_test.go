package dockerproxy_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/dockerproxy"
	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// The ids and names of what scripted has.
var (
	gateID, sandboxID, foreignID, otherID = strings.Repeat("a", 64), strings.Repeat("b", 64), strings.Repeat("c", 64), strings.Repeat("d", 64)
	imageID                               = "sha256:" + strings.Repeat("1", 64)
)

const lane, laneID = "sandloop-lane-0123456789ab", "9999"

// scripted is a daemon that knows some containers and networks, and keeps what reaches it beyond questions about them.
type scripted struct {
	mu         sync.Mutex
	containers map[string]map[string]string
	networks   map[string]network.Inspect
	// done are the requests, method, path and body.
	done []string
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, parts := strings.TrimPrefix(r.URL.Path, "/v1.41"), strings.Split(r.URL.Path, "/")
	body, _ := io.ReadAll(r.Body)
	var found any
	switch {
	case r.Method != http.MethodGet:
		s.done = append(s.done, strings.TrimSpace(r.Method+" "+path+" "+string(body)))
		w.WriteHeader(http.StatusNoContent)
		return
	case strings.HasPrefix(path, "/containers/") && s.containers[parts[3]] != nil:
		found = container.InspectResponse{
			ContainerJSONBase: &container.ContainerJSONBase{ID: parts[3]}, Config: &container.Config{Labels: s.containers[parts[3]]},
		}
	case strings.HasPrefix(path, "/networks/") && s.networks[parts[3]].ID != "":
		found = s.networks[parts[3]]
	case path == "/images/core/json":
		found = map[string]string{"Id": imageID}
	default:
		w.WriteHeader(http.StatusNotFound)
		found = map[string]string{"message": "no such thing"}
	}
	_ = json.NewEncoder(w).Encode(found)
}

func ourLabels(role, installation string) map[string]string {
	return map[string]string{labels.Role: role, labels.Installation: installation, labels.Owner: "w"}
}

// laneFound is a lane as the daemon tells of it.
func laneFound(change ...func(*network.Inspect)) network.Inspect {
	n := network.Inspect{
		ID: laneID, Internal: true, Labels: ourLabels(labels.RoleLane, "i"), IPAM: network.IPAM{Config: []network.IPAMConfig{{Subnet: "198.18.0.8/29"}}},
	}
	for _, c := range change {
		c(&n)
	}
	return n
}

// asking is a proxy before a scripted daemon, with the settings of jobs that have a network.
type asking struct {
	t      *testing.T
	daemon *scripted
	proxy  *dockerproxy.Proxy
}

func ask(t *testing.T, change ...func(*dockerproxy.Options)) *asking {
	t.Helper()
	daemon := &scripted{
		containers: map[string]map[string]string{
			gateID: ourLabels(labels.RoleEgress, "i"), sandboxID: ourLabels(labels.RoleSandbox, "i"), foreignID: {}, otherID: ourLabels(labels.RoleEgress, "other"),
		},
		networks: map[string]network.Inspect{
			lane:                         laneFound(),
			"bridge":                     {ID: "1", Name: "bridge"},
			"sandloop-lane-00000000000f": laneFound(func(n *network.Inspect) { n.Labels = nil }),
			"sandloop-lane-00000000000e": laneFound(func(n *network.Inspect) { n.Labels[labels.Installation] = "other" }),
			"sandloop-lane-00000000000d": laneFound(func(n *network.Inspect) { n.Internal = false }),
			"sandloop-lane-00000000000c": laneFound(func(n *network.Inspect) { n.Labels[labels.Role] = "x" }),
		},
	}
	server := httptest.NewServer(daemon)
	t.Cleanup(server.Close)
	docker, err := client.NewClientWithOpts(client.WithHost("tcp://"+server.Listener.Addr().String()), client.WithVersion("1.41"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, docker.Close()) })
	options := dockerproxy.Options{
		Docker: docker, Images: []string{"core"}, Maxima: sandbox.DefaultMaxima(), Installation: "i", Seccomp: "{}", Egress: &dockerproxy.Egress{
			Program: []byte("egress-proxy"), Rules: []egress.Rule{{Name: "a", Domains: []string{"a.example"}}}, Outgoing: "out", Subnet: netip.MustParsePrefix("198.18.0.0/16"), DNS: "10.0.0.53:53",
		},
	}
	for _, c := range change {
		c(&options)
	}
	return &asking{t: t, daemon: daemon, proxy: dockerproxy.New(options)}
}

// say sends a request, and returns the answer and what reached the daemon.
func (a *asking) say(request string, body any) (status int, message string, done []string) {
	a.t.Helper()
	text, isText := body.(string)
	if !isText && body != nil {
		encoded, err := json.Marshal(body)
		require.NoError(a.t, err)
		text = string(encoded)
	}
	method, uri, _ := strings.Cut(request, " ")
	r := httptest.NewRequestWithContext(a.t.Context(), method, "/v1.41"+uri, strings.NewReader(text))
	w := httptest.NewRecorder()
	a.daemon.done = nil
	a.proxy.ServeHTTP(w, r)
	return w.Code, w.Body.String(), a.daemon.done
}

func (a *asking) refused(what, request string, body any, why string) {
	a.t.Helper()
	status, message, done := a.say(request, body)
	require.Equal(a.t, http.StatusForbidden, status, "%s: %s %s", what, request, message)
	require.Contains(a.t, message, why, what)
	require.Empty(a.t, done, what)
}

func gateRequest() (r container.CreateRequest) {
	r.Config, r.HostConfig = docker.GateConfig(docker.GateSpec{
		ImageID: imageID, Outgoing: "out", DNS: "10.0.0.53:53", Seccomp: "{}", Worker: "w", Installation: "i", Expires: time.Unix(1_800_000_000, 0),
	})
	return r
}

func laneSandbox() (r container.CreateRequest) {
	r.Config, r.HostConfig = docker.HostConfig(docker.ContainerSpec{
		ImageID: imageID, Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789abcdef0123456789abcdef", Seccomp: "{}", Worker: "w", Installation: "i",
		Network: true, Lane: &docker.Lane{Network: lane, Proxy: netip.MustParseAddr("198.18.0.10")}, Deadline: time.Minute, Expires: time.Unix(1_800_000_000, 0),
	})
	return r
}

// laneBody is what the client of a worker sends for a lane.
const laneBody = `{"Driver":"bridge","Scope":"","IPAM":{"Driver":"default","Options":null,"Config":[{"Subnet":"198.18.0.8/29","Gateway":"198.18.0.9"}]},` +
	`"Internal":true,"Attachable":false,"Ingress":false,"ConfigOnly":false,"ConfigFrom":null,"Options":{"com.docker.network.bridge.inhibit_ipv4":"true"},` +
	`"Labels":{"dev.sandloop.installation":"i","dev.sandloop.owner":"w","dev.sandloop.role":"lane"},"Name":"sandloop-lane-0123456789ab","CheckDuplicate":true}`

const (
	connectTo = "POST /networks/" + lane + "/connect"
	leave     = "POST /networks/" + lane + "/disconnect"
	newGate   = "POST /containers/create?name=sandloop-w-0123456789ab-egress"
	newBox    = "POST /containers/create?name=sandloop-w-0123456789ab"
)

func connectBody(container, address string) network.ConnectOptions {
	return network.ConnectOptions{
		Container: container, EndpointConfig: &network.EndpointSettings{IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: address}},
	}
}

func TestWhatAJobWithANetworkNeedsIsLetThrough(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for _, tt := range []struct {
		name, request string
		body          any
		// wants are parts of what reaches the daemon, the first its beginning.
		wants []string
	}{
		{"a lane", "POST /networks/create", laneBody, []string{"POST /networks/create {", `"Subnet":"198.18.0.8/29"`, `"Internal":true`, `"CheckDuplicate":true`}},
		{"a lane of a newer client", "POST /networks/create", strings.Replace(laneBody, `,"CheckDuplicate":true`, "", 1), []string{"POST /networks/create {", `"CheckDuplicate":true`}},
		{"the gate in it", connectTo, connectBody(gateID, "198.18.0.10"), []string{"POST /networks/9999/connect {", `"Container":"` + gateID + `"`, `"IPv4Address":"198.18.0.10"`}},
		{"a sandbox in it", newBox, laneSandbox(), []string{"POST /containers/create {", `"NetworkMode":"` + lane + `"`, `"Dns":["198.18.0.10"]`, `"CapDrop":["ALL"]`}},
		{"the gate out of it", leave, `{"Container":"` + gateID + `","Force":true}`, []string{`POST /networks/9999/disconnect {"Container":"` + gateID + `","Force":true}`}},
		{"the end of the lane", "DELETE /networks/" + lane, nil, []string{"DELETE /networks/9999"}},
		{"a gate", newGate, gateRequest(), []string{"POST /containers/create {", `"NetworkMode":"out"`, `"ReadonlyRootfs":true`, `"User":"65534:65534"`}},
		{"its start", "POST /containers/" + gateID + "/start", nil, []string{"POST /containers/" + gateID + "/start"}},
		{"its end", "POST /containers/" + gateID + "/wait?condition=removed", nil, []string{"POST /containers/" + gateID + "/wait"}},
		{"its removal", "DELETE /containers/" + gateID + "?force=1&v=1", nil, []string{"DELETE /containers/" + gateID}},
	} {
		status, message, done := a.say(tt.request, tt.body)
		require.Equal(t, http.StatusNoContent, status, "%s: %s", tt.name, message)
		require.Len(t, done, 1, tt.name)
		require.True(t, strings.HasPrefix(done[0], tt.wants[0]), "%s: %s", tt.name, done[0])
		for _, want := range tt.wants {
			require.Contains(t, done[0], want, tt.name)
		}
	}
	status, _, _ := a.say("GET /containers/"+gateID+"/json", nil)
	require.Equal(t, http.StatusOK, status)
}

func TestWhereNoJobHasANetworkNoneIsMade(t *testing.T) {
	t.Parallel()
	a := ask(t, func(o *dockerproxy.Options) { o.Egress = nil })
	for request, body := range map[string]any{
		"POST /networks/create": laneBody, connectTo: connectBody(gateID, "198.18.0.10"), leave: `{"Container":"` + gateID + `","Force":true}`,
		newGate: gateRequest(), newBox: laneSandbox(), "POST /containers/" + gateID + "/start": nil, "POST /containers/" + gateID + "/attach?stream=1": nil,
		"PUT /containers/" + gateID + "/archive?path=/.sandloop": archive(t, "egress-proxy", "rules.json"), "POST /containers/" + gateID + "/wait?condition=removed": nil,
	} {
		a.refused(request, request, body, "jobs have no network here (network.rules)")
	}
	for _, request := range []string{"DELETE /networks/" + lane, "DELETE /containers/" + gateID + "?force=1&v=1"} {
		status, message, _ := a.say(request, nil)
		require.Equal(t, http.StatusNoContent, status, "what a worker with other settings left can go: %s", message)
	}
}

// Each is one step from a lane to a network that leads somewhere.
func TestNoNetworkButALaneIsMade(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for name, change := range map[string][2]string{
		"not internal":             {`"Internal":true`, `"Internal":false`},
		"with the host in it":      {`"com.docker.network.bridge.inhibit_ipv4":"true"`, `"com.docker.network.bridge.inhibit_ipv4":"false"`},
		"without options":          {`{"com.docker.network.bridge.inhibit_ipv4":"true"}`, `null`},
		"a bridge of the host":     {`"true"}`, `"true","com.docker.network.bridge.name":"docker0"}`},
		"another driver":           {`"Driver":"bridge"`, `"Driver":"macvlan"`},
		"the host's":               {`"Driver":"bridge"`, `"Driver":"host"`},
		"attachable":               {`"Attachable":false`, `"Attachable":true`},
		"ingress":                  {`"Ingress":false`, `"Ingress":true`},
		"of a swarm":               {`"Scope":""`, `"Scope":"swarm"`},
		"a pattern":                {`"ConfigOnly":false`, `"ConfigOnly":true`},
		"from a pattern":           {`"ConfigFrom":null`, `"ConfigFrom":{"Network":"x"}`},
		"with IPv6":                {`"Internal":true`, `"Internal":true,"EnableIPv6":true`},
		"another gateway":          {`"Gateway":"198.18.0.9"`, `"Gateway":"198.18.0.14"`},
		"another IPAM":             {`"Driver":"default"`, `"Driver":"evil"`},
		"options of the IPAM":      {`"Options":null`, `"Options":{"x":"y"}`},
		"a second block":           {`"198.18.0.9"}`, `"198.18.0.9"},{"Subnet":"10.0.0.0/8"}`},
		"the hosts' addresses":     {`198.18.0.8/29`, `10.0.0.8/29`},
		"beside the subnet":        {`198.18.0.8/29`, `198.19.0.8/29`},
		"more addresses":           {`198.18.0.8/29`, `198.18.0.8/28`},
		"a block that is askew":    {`198.18.0.8/29`, `198.18.0.9/29`},
		"no addresses":             {`{"Subnet":"198.18.0.8/29","Gateway":"198.18.0.9"}`, ``},
		"no IPAM":                  {`{"Driver":"default","Options":null,"Config":[{"Subnet":"198.18.0.8/29","Gateway":"198.18.0.9"}]}`, `null`},
		"another name":             {lane, `bridge`},
		"a longer name":            {lane, lane + "x"},
		"another installation":     {`"dev.sandloop.installation":"i"`, `"dev.sandloop.installation":"other"`},
		"no installation":          {`"dev.sandloop.installation":"i",`, ``},
		"another role":             {`"dev.sandloop.role":"lane"`, `"dev.sandloop.role":"sandbox"`},
		"a label of others":        {`"dev.sandloop.role"`, `"com.docker.compose.project":"x","dev.sandloop.role"`},
		"a field that none knows":  {`"Scope"`, `"Escape":true,"Scope"`},
		"a second value":           {`"Name"`, `"internal":false,"Name"`},
		"something behind":         {`"CheckDuplicate":true}`, `"CheckDuplicate":true}{}`},
		"no body":                  {laneBody, ``},
		"a parameter of the query": {"", ""},
	} {
		body, request := strings.Replace(laneBody, change[0], change[1], 1), "POST /networks/create"
		if change[0] == "" {
			request += "?x=1"
		} else {
			require.NotEqual(t, laneBody, body, name)
		}
		a.refused(name, request, body, "docker-proxy refuses")
	}
	a.refused("not internal", "POST /networks/create", strings.Replace(laneBody, `"Internal":true`, `"Internal":false`, 1), "Internal is false: want true")
	for _, request := range []string{"GET /networks/" + lane, "POST /networks/prune", "GET /networks", "POST /networks/" + lane, "PUT /networks/" + lane} {
		a.refused(request, request, nil, "")
	}
}

func TestNothingButOurGateIsConnectedToALane(t *testing.T) {
	t.Parallel()
	a := ask(t)
	const none, at = "none of sandloop's", "198.18.0.10"
	for name, tt := range map[string]struct{ network, container, address, why string }{
		"a foreign container":               {lane, foreignID, at, none},
		"one of another installation":       {lane, otherID, at, none},
		"a sandbox of ours":                 {lane, sandboxID, at, `the container is a \"sandbox\"`},
		"our gate to Docker's bridge":       {"bridge", gateID, at, none},
		"our gate to a network with a name": {"sandloop-lane-00000000000f", gateID, at, none},
		"to a lane of another installation": {"sandloop-lane-00000000000e", gateID, at, none},
		"to a network that is not internal": {"sandloop-lane-00000000000d", gateID, at, "not internal"},
		"to a network of another role":      {"sandloop-lane-00000000000c", gateID, at, none},
		"at another address":                {lane, gateID, "198.18.0.11", "want \\\"198.18.0.10\\\""},
	} {
		a.refused(name, "POST /networks/"+tt.network+"/connect", connectBody(tt.container, tt.address), tt.why)
		if tt.address == at {
			a.refused(name, "POST /networks/"+tt.network+"/disconnect", network.DisconnectOptions{Container: tt.container, Force: true}, tt.why)
		}
	}
	for name, change := range map[string]func(*network.ConnectOptions){
		"without an address":   func(o *network.ConnectOptions) { o.EndpointConfig = nil },
		"under another name":   func(o *network.ConnectOptions) { o.EndpointConfig.Aliases = []string{"redis"} },
		"with a link":          func(o *network.ConnectOptions) { o.EndpointConfig.Links = []string{"redis"} },
		"with a MAC address":   func(o *network.ConnectOptions) { o.EndpointConfig.MacAddress = "02:42:ac:11:00:02" },
		"with driver options":  func(o *network.ConnectOptions) { o.EndpointConfig.DriverOpts = map[string]string{"x": "y"} },
		"with an IPv6 address": func(o *network.ConnectOptions) { o.EndpointConfig.IPAMConfig.IPv6Address = "fd00::1" },
		"before other routes":  func(o *network.ConnectOptions) { o.EndpointConfig.GwPriority = 1 },
	} {
		options := connectBody(gateID, at)
		change(&options)
		a.refused(name, connectTo, options, "EndpointConfig")
	}
	a.refused("gently", leave, `{"Container":"`+gateID+`","Force":false}`, "Force is false: want true")
	a.refused("nobody", leave, ``, "the body cannot be read")
	a.refused("a foreign network's end", "DELETE /networks/bridge", nil, none)
	a.refused("the end of one of another role", "DELETE /networks/sandloop-lane-00000000000c", nil, none)
	status, _, done := a.say("POST /networks/sandloop-lane-ffffffffffff/connect", connectBody(gateID, at))
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, done)
}

// Each is one step from a gate to a container with a network that does something else.
func TestNoContainerWithANetworkButAGateIsMade(t *testing.T) {
	t.Parallel()
	a := ask(t)
	yes, pids := true, int64(-1)
	for name, change := range map[string]func(*container.CreateRequest){
		"privileged":      func(r *container.CreateRequest) { r.HostConfig.Privileged = true },
		"the host's root": func(r *container.CreateRequest) { r.HostConfig.Binds = []string{"/:/host"} },
		"a folder of the host": func(r *container.CreateRequest) {
			mounted(r, mount.Mount{Type: mount.TypeBind, Source: "/", Target: "/host"})
		},
		"a volume with a name": func(r *container.CreateRequest) { r.HostConfig.Mounts[0].Source = "redis" },
		"a volume of a driver": func(r *container.CreateRequest) {
			r.HostConfig.Mounts[0].VolumeOptions = &mount.VolumeOptions{DriverConfig: &mount.Driver{Name: "local"}}
		},
		"a capability":          func(r *container.CreateRequest) { r.HostConfig.CapAdd = []string{"NET_ADMIN"} },
		"Docker's capabilities": func(r *container.CreateRequest) { r.HostConfig.CapDrop = nil },
		"no seccomp":            func(r *container.CreateRequest) { r.HostConfig.SecurityOpt[1] = "seccomp=unconfined" },
		"new privileges":        func(r *container.CreateRequest) { r.HostConfig.SecurityOpt = r.HostConfig.SecurityOpt[1:] },
		"the host's network":    func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "host" },
		"Docker's bridge":       func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "bridge" },
		"another's network":     func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "container:redis" },
		"a second network": func(r *container.CreateRequest) {
			r.NetworkingConfig = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{"queue": {}}}
		},
		"the host's processes": func(r *container.CreateRequest) { r.HostConfig.PidMode = "host" },
		"forwarding packets":   func(r *container.CreateRequest) { r.HostConfig.Sysctls = map[string]string{"net.ipv4.ip_forward": "1"} },
		"an open port":         func(r *container.CreateRequest) { r.HostConfig.PublishAllPorts = true },
		"a writable root":      func(r *container.CreateRequest) { r.HostConfig.ReadonlyRootfs = false },
		"a tmpfs":              func(r *container.CreateRequest) { r.HostConfig.Tmpfs = map[string]string{"/tmp": "exec"} },
		"a device": func(r *container.CreateRequest) {
			r.HostConfig.Devices = []container.DeviceMapping{{PathOnHost: "/dev/sda"}}
		},
		"more memory":          func(r *container.CreateRequest) { r.HostConfig.Memory *= 2 },
		"more processes":       func(r *container.CreateRequest) { r.HostConfig.PidsLimit = &pids },
		"no OOM kill":          func(r *container.CreateRequest) { r.HostConfig.OomKillDisable = &yes },
		"another runtime":      func(r *container.CreateRequest) { r.HostConfig.Runtime = "evil" },
		"a log on the disk":    func(r *container.CreateRequest) { r.HostConfig.LogConfig.Type = "json-file" },
		"staying for ever":     func(r *container.CreateRequest) { r.HostConfig.AutoRemove = false },
		"other names":          func(r *container.CreateRequest) { r.HostConfig.ExtraHosts = []string{"pypi.org:10.0.0.1"} },
		"root":                 func(r *container.CreateRequest) { r.User = "0" },
		"another program":      func(r *container.CreateRequest) { r.Entrypoint = []string{"/bin/sh"} },
		"another address":      func(r *container.CreateRequest) { r.Cmd[0] = "--listen=:22" },
		"another DNS":          func(r *container.CreateRequest) { r.Cmd[1] = "--dns=6.6.6.6:53" },
		"more arguments":       func(r *container.CreateRequest) { r.Cmd = append(r.Cmd, "-x") },
		"an environment":       func(r *container.CreateRequest) { r.Env = append(r.Env, "GODEBUG=x") },
		"another image":        func(r *container.CreateRequest) { r.Image = "sha256:" + strings.Repeat("0", 64) },
		"another installation": func(r *container.CreateRequest) { r.Labels[labels.Installation] = "other" },
		"no installation":      func(r *container.CreateRequest) { delete(r.Labels, labels.Installation) },
		"a label of others":    func(r *container.CreateRequest) { r.Labels["com.docker.compose.project"] = "x" },
		"a job's label":        func(r *container.CreateRequest) { r.Labels[labels.Job] = "x" },
		"another role":         func(r *container.CreateRequest) { r.Labels[labels.Role] = "proxy" },
		"a sandbox's role":     func(r *container.CreateRequest) { r.Labels[labels.Role] = labels.RoleSandbox },
		"a volume's role":      func(r *container.CreateRequest) { r.Labels[labels.Role] = labels.RoleInitVolume },
		"surviving its worker": func(r *container.CreateRequest) { r.StdinOnce = false },
	} {
		r := gateRequest()
		change(&r)
		a.refused(name, newGate, r, "docker-proxy refuses")
	}
	a.refused("another name", "POST /containers/create?name=redis", gateRequest(), "is not one of sandloop's")
	for _, request := range []string{"/rename?name=sandloop-x", "/update", "/exec", "/kill"} {
		a.refused(request, "POST /containers/"+gateID+request, `{"Memory":67108864,"MemorySwap":67108864,"CpuPeriod":100000,"CpuQuota":50000,"PidsLimit":80}`, "")
	}
}

// A sandbox has no network but a lane of its own installation, and takes nothing but the gate in it for the gate.
func TestASandboxIsInNoOtherNetworkThanALane(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for name, change := range map[string]func(*container.CreateRequest){
		"Docker's bridge": func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "bridge" },
		"the host's":      func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "host" },
		"the gate's":      func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "out" },
		"the gate's own": func(r *container.CreateRequest) {
			r.HostConfig.NetworkMode = container.NetworkMode("container:" + gateID)
		},
		"one that only has the name": func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "sandloop-lane-00000000000f" },
		"another installation's":     func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "sandloop-lane-00000000000e" },
		"one that is not internal":   func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "sandloop-lane-00000000000d" },
		"one of another role":        func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "sandloop-lane-00000000000c" },
		"a lane by its id":           func(r *container.CreateRequest) { r.HostConfig.NetworkMode = laneID },
		"another resolver":           func(r *container.CreateRequest) { r.HostConfig.DNS = []string{"198.18.0.11"} },
		"a second resolver":          func(r *container.CreateRequest) { r.HostConfig.DNS = append(r.HostConfig.DNS, "8.8.8.8") },
		"Docker's resolver":          func(r *container.CreateRequest) { r.HostConfig.DNS = nil },
		"another gate":               func(r *container.CreateRequest) { r.HostConfig.ExtraHosts = []string{"sandloop-egress:198.18.0.11"} },
		"a neighbour for the gate": func(r *container.CreateRequest) {
			r.HostConfig.DNS, r.HostConfig.ExtraHosts = []string{"198.18.0.11"}, []string{"sandloop-egress:198.18.0.11"}
		},
		"another name": func(r *container.CreateRequest) {
			r.HostConfig.ExtraHosts = append(r.HostConfig.ExtraHosts, "x:10.0.0.1")
		},
		"a link":                       func(r *container.CreateRequest) { r.HostConfig.Links = []string{"redis"} },
		"an open port":                 func(r *container.CreateRequest) { r.HostConfig.PublishAllPorts = true },
		"a capability":                 func(r *container.CreateRequest) { r.HostConfig.CapAdd = []string{"NET_RAW"} },
		"a lane and none":              func(r *container.CreateRequest) { r.NetworkDisabled = true },
		"a lane without a known image": func(r *container.CreateRequest) { r.Image = "sha256:" + strings.Repeat("0", 64) },
	} {
		r := laneSandbox()
		r.HostConfig.Tmpfs = maps.Clone(r.HostConfig.Tmpfs)
		change(&r)
		a.refused(name, newBox, r, "docker-proxy refuses")
	}
	gone := laneSandbox()
	gone.HostConfig.NetworkMode = "sandloop-lane-ffffffffffff"
	status, _, done := a.say(newBox, gone)
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, done)

	pinned := ask(t, func(o *dockerproxy.Options) { o.Installation = "" })
	foreign := laneSandbox()
	foreign.Labels[labels.Installation], foreign.HostConfig.Mounts[0].VolumeOptions.Labels[labels.Installation] = "j", "j"
	pinned.refused("where all installations are served", newBox, foreign, "the network is that of another installation")
}

// A gate has the world before it, so it is its program and its rules that decide what becomes of that.
func TestAGateHasTheProxysOwnProgramAndRulesAlone(t *testing.T) {
	t.Parallel()
	a := ask(t)
	const program, file = "egress-proxy", "rules.json"
	rules := []egress.Rule{{Name: "a", Domains: []string{"a.example"}}}
	gate := func(program string, rules []egress.Rule) string {
		content, err := docker.ArchiveGate([]byte(program), rules)
		require.NoError(t, err)
		return string(content)
	}
	fill := "PUT /containers/" + gateID + "/archive?path=/.sandloop&noOverwriteDirNonDir=true"
	status, message, done := a.say(fill, gate(program, rules))
	require.Equal(t, http.StatusNoContent, status, message)
	require.Equal(t, []string{strings.TrimSpace("PUT /containers/" + gateID + "/archive " + gate(program, rules))}, done, "files that root owns")

	a.refused("another program", fill, gate("another", rules), "the program is not the egress-proxy that docker-proxy has (network.proxy_path)")
	for name, other := range map[string][]egress.Rule{
		"no rules": nil, "a rule more": append(slices.Clone(rules), egress.Rule{Name: "b"}), "a name more": {{Name: "a", Domains: []string{"a.example", "*"}}},
		"private addresses": {{Name: "a", Domains: []string{"a.example"}, Private: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}},
	} {
		a.refused(name, fill, gate(program, other), "the rules are not those that docker-proxy has (network.rules)")
	}
	for _, files := range [][]string{
		{program}, {file}, {file, program}, {program, file, "more"}, {program, program, file}, {"../" + program, file}, {program, "../" + file}, {"run", file}, nil,
	} {
		a.refused(strings.Join(files, " and "), fill, archive(t, files...), "want an archive of egress-proxy and rules.json alone")
	}
	a.refused("sandbox-init", strings.Replace(fill, "/.sandloop", "/", 1), archive(t, ".sandloop/sandbox-init"), `the container is a \"egress\"`)
	a.refused("a sandbox", strings.Replace(fill, gateID, sandboxID, 1), gate(program, rules), `the container is a \"sandbox\"`)
	a.refused("another's gate", strings.Replace(fill, gateID, otherID, 1), gate(program, rules), "none of sandloop's")
	a.refused("another folder", strings.Replace(fill, "/.sandloop", "/etc", 1), gate(program, rules), "workers do not give")
}
