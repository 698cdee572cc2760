package dockerproxy_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// request is what a worker sends to have a sandbox.
func (b *bundle) request() container.CreateRequest {
	b.t.Helper()
	found, err := b.daemon.ImageInspect(b.t.Context(), b.image)
	require.NoError(b.t, err)
	var r container.CreateRequest
	r.Config, r.HostConfig = docker.HostConfig(docker.ContainerSpec{
		ImageID: found.ID, Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789abcdef0123456789abcdef",
		Worker: "mallory", Installation: b.installation, Deadline: time.Minute, Expires: time.Now().Add(time.Minute),
	})
	return r
}

// Each is one step from what a worker may do to more than it may.
func TestNoContainerButASandboxIsCreated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const create = "/v1.41/containers/create?name=sandloop-attack"
	yes, pids, none := true, int64(-1), []string{}
	for name, change := range map[string]func(*container.CreateRequest){
		"privileged":      func(r *container.CreateRequest) { r.HostConfig.Privileged = true },
		"the host's root": func(r *container.CreateRequest) { r.HostConfig.Binds = []string{"/:/host"} },
		"the host's root, new": func(r *container.CreateRequest) {
			mounted(r, mount.Mount{Type: mount.TypeBind, Source: "/", Target: "/host"})
		},
		"docker's socket": func(r *container.CreateRequest) { r.HostConfig.Binds = []string{"/var/run/docker.sock:/d"} },
		"another volume": func(r *container.CreateRequest) {
			mounted(r, mount.Mount{Type: mount.TypeVolume, Source: "redis", Target: "/v"})
		},
		"a second volume of ours": func(r *container.CreateRequest) {
			mounted(r, mount.Mount{Type: mount.TypeVolume, Source: "sandloop-init-0123456789abcdef0123456789abcdef", Target: "/v"})
		},
		"a volume that is a folder of the host": func(r *container.CreateRequest) {
			r.HostConfig.Mounts[0].VolumeOptions.DriverConfig = &mount.Driver{Name: "local", Options: map[string]string{"type": "none", "o": "bind", "device": "/"}}
		},
		"our volume, writable":     func(r *container.CreateRequest) { r.HostConfig.Mounts[0].ReadOnly = false },
		"volumes of others":        func(r *container.CreateRequest) { r.HostConfig.VolumesFrom = []string{"redis"} },
		"the host's processes":     func(r *container.CreateRequest) { r.HostConfig.PidMode = "host" },
		"another's processes":      func(r *container.CreateRequest) { r.HostConfig.PidMode = "container:redis" },
		"the host's network":       func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "host" },
		"another's network":        func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "container:redis" },
		"a network":                func(r *container.CreateRequest) { r.HostConfig.NetworkMode, r.NetworkDisabled = "bridge", false },
		"a network of a project":   func(r *container.CreateRequest) { r.HostConfig.NetworkMode = "sandloop_queue" },
		"a network beside none":    func(r *container.CreateRequest) { r.NetworkDisabled = false },
		"the host's shared memory": func(r *container.CreateRequest) { r.HostConfig.IpcMode = "host" },
		"the host's name":          func(r *container.CreateRequest) { r.HostConfig.UTSMode = "host" },
		"the host's users":         func(r *container.CreateRequest) { r.HostConfig.UsernsMode = "host" },
		"the host's cgroups":       func(r *container.CreateRequest) { r.HostConfig.CgroupnsMode = "host" },
		"a cgroup of the host":     func(r *container.CreateRequest) { r.HostConfig.CgroupParent = "/" },
		"a capability":             func(r *container.CreateRequest) { r.HostConfig.CapAdd = []string{"SYS_ADMIN"} },
		"Docker's capabilities":    func(r *container.CreateRequest) { r.HostConfig.CapDrop = none },
		"no seccomp": func(r *container.CreateRequest) {
			r.HostConfig.SecurityOpt = append(r.HostConfig.SecurityOpt, "seccomp=unconfined")
		},
		"no AppArmor": func(r *container.CreateRequest) {
			r.HostConfig.SecurityOpt = append(r.HostConfig.SecurityOpt, "apparmor=unconfined")
		},
		"new privileges":            func(r *container.CreateRequest) { r.HostConfig.SecurityOpt = none },
		"nothing masked":            func(r *container.CreateRequest) { r.HostConfig.MaskedPaths = []string{"/nothing"} },
		"nothing read-only in proc": func(r *container.CreateRequest) { r.HostConfig.ReadonlyPaths = []string{"/nothing"} },
		"a device": func(r *container.CreateRequest) {
			r.HostConfig.Devices = []container.DeviceMapping{{PathOnHost: "/dev/sda", PathInContainer: "/dev/sda", CgroupPermissions: "rwm"}}
		},
		"any device":          func(r *container.CreateRequest) { r.HostConfig.DeviceCgroupRules = []string{"a *:* rwm"} },
		"a device by request": func(r *container.CreateRequest) { r.HostConfig.DeviceRequests = []container.DeviceRequest{{Count: -1}} },
		"a setting of kernel": func(r *container.CreateRequest) { r.HostConfig.Sysctls = map[string]string{"net.ipv4.ip_forward": "1"} },
		"a group":             func(r *container.CreateRequest) { r.HostConfig.GroupAdd = []string{"docker"} },
		"a writable root":     func(r *container.CreateRequest) { r.HostConfig.ReadonlyRootfs = false },
		"a third tmpfs":       func(r *container.CreateRequest) { r.HostConfig.Tmpfs["/etc"] = "rw" },
		"a tmpfs with devices": func(r *container.CreateRequest) {
			r.HostConfig.Tmpfs["/tmp"] = "rw,noexec,nosuid,dev,size=67108864,mode=1777"
		},
		"a log on the disk":    func(r *container.CreateRequest) { r.HostConfig.LogConfig.Type = "json-file" },
		"staying for ever":     func(r *container.CreateRequest) { r.HostConfig.AutoRemove = false },
		"starting by itself":   func(r *container.CreateRequest) { r.HostConfig.RestartPolicy = container.RestartPolicy{Name: "always"} },
		"an open port":         func(r *container.CreateRequest) { r.HostConfig.PublishAllPorts = true },
		"another runtime":      func(r *container.CreateRequest) { r.HostConfig.Runtime = "evil" },
		"Docker's init":        func(r *container.CreateRequest) { r.HostConfig.Init = &yes },
		"no memory limit":      func(r *container.CreateRequest) { r.HostConfig.Memory, r.HostConfig.MemorySwap = 0, 0 },
		"swap":                 func(r *container.CreateRequest) { r.HostConfig.MemorySwap = -1 },
		"too much memory":      func(r *container.CreateRequest) { r.HostConfig.Memory, r.HostConfig.MemorySwap = 1<<40, 1<<40 },
		"no limit of CPU":      func(r *container.CreateRequest) { r.HostConfig.CPUQuota = 0 },
		"real time":            func(r *container.CreateRequest) { r.HostConfig.CPURealtimeRuntime = 1 },
		"no limit of pids":     func(r *container.CreateRequest) { r.HostConfig.PidsLimit = &pids },
		"no OOM kill":          func(r *container.CreateRequest) { r.HostConfig.OomKillDisable = &yes },
		"dying last":           func(r *container.CreateRequest) { r.HostConfig.OomScoreAdj = -1000 },
		"core dumps":           func(r *container.CreateRequest) { r.HostConfig.Ulimits[0].Hard = 1 << 40 },
		"root":                 func(r *container.CreateRequest) { r.User = "0" },
		"another program":      func(r *container.CreateRequest) { r.Entrypoint = []string{"/bin/sh"} },
		"other arguments":      func(r *container.CreateRequest) { r.Cmd = []string{"--deadline=1m0s", "-c", "x"} },
		"a longer deadline":    func(r *container.CreateRequest) { r.Cmd = []string{"--deadline=1m 0s"} },
		"an environment":       func(r *container.CreateRequest) { r.Env = []string{"LD_PRELOAD=/x"} },
		"a health check":       func(r *container.CreateRequest) { r.Healthcheck.Test = []string{"CMD", "/bin/sh"} },
		"a volume of image":    func(r *container.CreateRequest) { r.Volumes = map[string]struct{}{"/v": {}} },
		"no labels":            func(r *container.CreateRequest) { r.Labels = nil },
		"another installation": func(r *container.CreateRequest) { r.Labels[labels.Installation] = "other" },
		"another role":         func(r *container.CreateRequest) { r.Labels[labels.Role] = "proxy" },
		"a label of others":    func(r *container.CreateRequest) { r.Labels["com.docker.compose.project"] = "x" },
		"a sandbox that fills": func(r *container.CreateRequest) { r.Labels[labels.Role] = labels.RoleInitVolume },
		"another image":        func(r *container.CreateRequest) { r.Image = "sha256:" + strings.Repeat("0", 64) },
		"an image by name":     func(r *container.CreateRequest) { r.Image = "alpine" },
		"a network's end": func(r *container.CreateRequest) {
			r.NetworkingConfig = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{"host": {}}}
		},
		"no host configuration": func(r *container.CreateRequest) { r.HostConfig = nil },
	} {
		r := b.request()
		if r.HostConfig != nil {
			r.HostConfig.Tmpfs = maps.Clone(r.HostConfig.Tmpfs)
		}
		change(&r)
		status, message := b.say(http.MethodPost, create, r)
		require.Equal(t, http.StatusForbidden, status, "%s: %s", name, message)
	}
	for name, alter := range map[string]func(string) string{
		"a field that nobody knows":   func(s string) string { return strings.Replace(s, `"HostConfig":{`, `"HostConfig":{"Escape":true,`, 1) },
		"a second host configuration": func(s string) string { return s[:len(s)-1] + `,"hostconfig":{"Privileged":true}}` },
		"something behind":            func(s string) string { return s + `{"HostConfig":{"Privileged":true}}` },
		"no JSON":                     func(string) string { return "{" },
		"nothing":                     func(string) string { return "" },
	} {
		text, err := json.Marshal(b.request())
		require.NoError(t, err)
		status, message := b.say(http.MethodPost, create, alter(string(text)))
		require.Equal(t, http.StatusForbidden, status, "%s: %s", name, message)
	}
	for _, query := range []string{"", "?name=redis", "?name=sandloop-x&platform=linux/arm64", "?name=sandloop-x&name=redis", "?name=sandloop-x&fromImage=x", "?name=sandloop-a/b"} {
		b.refused(http.MethodPost, "/v1.41/containers/create"+query, b.request(), "")
	}
	require.Empty(t, b.containers())

	text, err := json.Marshal(b.request())
	require.NoError(t, err)
	// Of two fields proxy and daemon might each take another.
	status, message := b.say(http.MethodPost, create, strings.Replace(string(text), `"HostConfig":{`, `"HostConfig":{"privileged":true,"Privileged":true,`, 1))
	require.Equal(t, http.StatusCreated, status, "in the end it is what a worker may do: %s", message)
	var created container.CreateResponse
	require.NoError(t, json.Unmarshal([]byte(message), &created))
	found, err := b.daemon.ContainerInspect(t.Context(), created.ID)
	require.NoError(t, err)
	require.False(t, found.HostConfig.Privileged)
	b.refused(http.MethodPut, "/containers/"+created.ID+"/archive?path=/", "tar", "want an archive of .sandloop/sandbox-init alone")
	b.refused(http.MethodPut, "/containers/"+created.ID+"/archive?path=/", archive(t, ".sandloop/sandbox-init"), "the container is a \\\"sandbox\\\"")
	b.refused(http.MethodPost, "/containers/"+created.ID+"/exec", `{"Cmd":["sh"]}`, "workers do not use it")
	b.refused(http.MethodPost, "/containers/"+created.ID+"/rename?name=redis", nil, "is not one of sandloop's")
	b.refused(http.MethodPost, "/containers/"+created.ID+"/update", `{"Memory":-1,"MemorySwap":-1}`, "the limit memory is -1")
	b.refused(http.MethodPost, "/containers/"+created.ID+"/update", `{"Memory":67108864,"MemorySwap":67108864,"CpuPeriod":100000,"CpuQuota":50000,"PidsLimit":20,"Devices":[{}]}`, "Devices is")
	status, message = b.say(http.MethodDelete, "/v1.41/containers/"+created.ID+"?force=1&v=1", nil)
	require.Equal(t, http.StatusNoContent, status, message)
}

func mounted(r *container.CreateRequest, m mount.Mount) {
	r.HostConfig.Mounts = append(r.HostConfig.Mounts, m)
}

func TestNothingButSandloopsContainersIsTouched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	foreign, err := b.daemon.ContainerCreate(t.Context(), &container.Config{Image: b.image, Labels: map[string]string{labels.Role: labels.RoleSandbox}}, nil, nil, nil, "")
	require.NoError(t, err)
	defer func() {
		require.NoError(t, b.daemon.ContainerRemove(t.Context(), foreign.ID, container.RemoveOptions{Force: true}))
	}()
	other := b.request()
	other.Labels[labels.Installation] = "other-" + b.installation
	made, err := b.daemon.ContainerCreate(t.Context(), other.Config, &container.HostConfig{}, nil, nil, "")
	require.NoError(t, err)
	defer func() {
		require.NoError(t, b.daemon.ContainerRemove(t.Context(), made.ID, container.RemoveOptions{Force: true}))
	}()
	for _, id := range []string{foreign.ID, foreign.ID[:12], made.ID} {
		for _, request := range []string{
			"GET /json", "POST /start", "POST /attach?stream=1&stdin=1&stdout=1&stderr=1", "POST /wait?condition=removed", "POST /rename?name=sandloop-x",
			"DELETE ?force=1&v=1", "HEAD /archive?path=/.sandloop/sandbox-init", "PUT /archive?path=/", "PUT /archive?path=/.sandloop",
		} {
			method, rest, _ := strings.Cut(request, " ")
			status, message := b.say(method, "/v1.41/containers/"+id+rest, nil)
			require.Equal(t, http.StatusForbidden, status, "%s: %s", request, message)
		}
		b.refused(http.MethodPost, "/containers/"+id+"/update",
			`{"Memory":67108864,"MemorySwap":67108864,"CpuPeriod":100000,"CpuQuota":50000,"PidsLimit":80}`, "none of sandloop's")
	}
	status, _ := b.say(http.MethodGet, "/containers/"+strings.Repeat("0", 64)+"/json", nil)
	require.Equal(t, http.StatusNotFound, status, "what is gone is gone for workers, too")

	const name = "sandloop-init-ffffffffffffffffffffffffffffffff"
	foreignVolume, err := b.daemon.VolumeCreate(t.Context(), volume.CreateOptions{Name: name})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.daemon.VolumeRemove(t.Context(), foreignVolume.Name, true)) }()
	b.refused(http.MethodDelete, "/volumes/"+name, nil, "none of sandloop's")
	b.refused(http.MethodDelete, "/networks/bridge", nil, "none of sandloop's")
	b.refused(http.MethodDelete, "/networks/none", nil, "none of sandloop's")
}

func TestWhatWorkersDoNotUseIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, request := range []string{
		"POST /v1.41/build", "POST /images/create?fromImage=alpine", "POST /images/load", "POST /commit?container=x", "DELETE /images/" + b.image,
		"POST /exec/0/start", "GET /containers/x/export", "GET /containers/x/logs?stdout=1", "GET /containers/x/archive?path=/etc", "POST /containers/x/kill",
		"POST /containers/x/stop", "POST /containers/x/restart", "POST /containers/x/attach/ws", "POST /containers/prune", "GET /containers/x/top", "GET /images/json",
		"GET /networks", "POST /networks/create", "POST /networks/x/connect", "GET /secrets", "POST /swarm/init", "POST /plugins/pull", "POST /auth", "POST /session",
		"POST /grpc", "GET /system/df", "GET /distribution/x/json", "GET /debug/pprof/heap", "PATCH /info", "POST /volumes/prune", "GET /volumes/x", "GET /", "GET /v1.41",
		"GET /v1.41/v1.41/info", "GET /v1.41//info", "GET /containers/../info", "GET /%2e%2e/info", "GET /containers%2fjson", "GET /v2.0/info", "OPTIONS /info",
		"GET /containers/json", "GET /containers/json?all=1", "GET /containers/json?filters=" + url.QueryEscape(`{"name":{"redis":true}}`),
		"GET /containers/json?filters=" + url.QueryEscape(`{"label":{"dev.sandloop.installation":true}}`), "GET /containers/json?filters=%7B", "GET /volumes",
		"GET /containers/json?filters=" + url.QueryEscape(`{"label":{"dev.sandloop.installation=other":true}}`),
		"GET /events", "GET /events?since=1&filters=" + url.QueryEscape(`{"type":{"container":true}}`),
		"GET /events?since=1&filters=" + url.QueryEscape(`{"container":{"redis":true},"type":{"container":true}}`),
		"GET /info?x=1", "GET /images/alpine/json",
	} {
		method, uri, _ := strings.Cut(request, " ")
		b.refused(method, uri, nil, "")
	}
	for name, body := range map[string]string{
		"a folder of the host": `{"Name":"sandloop-init-0123456789abcdef0123456789abcdef","Labels":{%q:%q,"dev.sandloop.role":"init-volume"},"Driver":"local","DriverOpts":{"type":"none","o":"bind","device":"/"}}`,
		"another name":         `{"Name":"redis","Labels":{%q:%q,"dev.sandloop.role":"init-volume"}}`,
		"another role":         `{"Name":"sandloop-init-0123456789abcdef0123456789abcdef","Labels":{%q:%q,"dev.sandloop.role":"x"}}`,
	} {
		status, message := b.say(http.MethodPost, "/volumes/create", fmt.Sprintf(body, labels.Installation, b.installation))
		require.Equal(t, http.StatusForbidden, status, "%s: %s", name, message)
	}
	long := strings.Repeat(" ", 17<<20)
	b.refused(http.MethodPost, "/containers/create?name=sandloop-x", long, "the body is more than 16777216 bytes")
}

// archive holds files, each with its own name as content.
func archive(t *testing.T, names ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range names {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(name)), Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(name))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.String()
}

// The volume with sandbox-init is every worker's: what one puts there the others run.
func TestNoOtherProgramIsPutInThePlaceOfSandboxInit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	volumes := map[string]int{docker.InitVolumeName([]byte(".sandloop/sandbox-init"), false): http.StatusOK, "sandloop-init-0123456789abcdef0123456789abcdef": http.StatusForbidden}
	for name, want := range volumes {
		var asked container.CreateRequest
		asked.Config, asked.HostConfig = docker.FillConfig(docker.ContainerSpec{
			ImageID: b.request().Image, InitVolume: name, Installation: b.installation, Worker: "mallory", Expires: time.Now().Add(time.Minute),
		})
		status, message := b.say(http.MethodPost, "/v1.41/containers/create?name=sandloop-"+b.installation, asked)
		require.Equal(t, http.StatusCreated, status, message)
		var created container.CreateResponse
		require.NoError(t, json.Unmarshal([]byte(message), &created))
		uri := "/v1.41/containers/" + created.ID
		for _, other := range [][]string{{".sandloop/sandbox-init", "more"}, {"sandbox-init"}, {"../.sandloop/sandbox-init"}, {"bin/sh"}, nil} {
			b.refused(http.MethodPut, uri+"/archive?path=/", archive(t, other...), "want an archive of .sandloop/sandbox-init alone")
		}
		status, message = b.say(http.MethodPut, uri+"/archive?path=/", archive(t, ".sandloop/sandbox-init"))
		require.Equal(t, want, status, message)
		b.refused(http.MethodPost, uri+"/start", nil, "with which workers do not do this")
		b.refused(http.MethodPost, uri+"/attach?stream=1", nil, "with which workers do not do this")
		status, message = b.say(http.MethodDelete, uri+"?force=1&v=1", nil)
		require.Equal(t, http.StatusNoContent, status, message)
		require.NoError(t, b.daemon.VolumeRemove(t.Context(), name, true))
	}
}
