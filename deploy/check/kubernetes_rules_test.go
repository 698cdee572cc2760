package check

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// pinned images name a whole version, the digest, or both.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+(:[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.-]+)?(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$`)

// selected names the pods that a selector matches.
func selected(t *testing.T, o *objects, selector *metav1.LabelSelector) []string {
	t.Helper()
	matcher, err := metav1.LabelSelectorAsSelector(selector)
	require.NoError(t, err)
	names := map[string]bool{}
	for name, pod := range o.pods() {
		if matcher.Matches(labels.Set(pod.Labels)) {
			names[name] = true
		}
	}
	return sortedKeys(names)
}

func TestEachSelectorFindsItsPodsAndNoOthers(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	worker, redis, both := []string{"worker"}, []string{"redis"}, []string{"redis", "worker"}
	require.Equal(t, worker, selected(t, o, o.worker.Spec.Selector))
	require.Equal(t, redis, selected(t, o, o.redis.Spec.Selector))
	require.Equal(t, worker, selected(t, o, o.budget.Spec.Selector))
	require.Equal(t, redis, selected(t, o, metav1.SetAsLabelSelector(o.service.Spec.Selector)))
	require.Equal(t, o.service.Name, o.redis.Spec.ServiceName)
	for _, spread := range o.worker.Spec.Template.Spec.TopologySpreadConstraints {
		require.Equal(t, worker, selected(t, o, spread.LabelSelector))
	}
	for name, want := range map[string][]string{"worker": worker, "redis": redis, "deny": both, "producer": {}} {
		require.Equal(t, want, selected(t, o, &o.policies[name].Spec.PodSelector), name)
	}
	for _, pod := range o.pods() {
		require.Equal(t, "sandloop", pod.Labels["app.kubernetes.io/name"])
	}
}

// peers names the pods of the namespace that rules let in or out.
func peers(t *testing.T, o *objects, peers []networkingv1.NetworkPolicyPeer) (names []string) {
	t.Helper()
	for _, peer := range peers {
		if peer.PodSelector != nil && peer.NamespaceSelector == nil {
			names = append(names, selected(t, o, peer.PodSelector)...)
		}
	}
	return names
}

func TestWorkersReachRedisAndNothingInTheCluster(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	deny := o.policies["deny"].Spec
	require.Empty(t, deny.Ingress)
	require.Empty(t, deny.Egress)
	require.ElementsMatch(t, []networkingv1.PolicyType{"Ingress", "Egress"}, deny.PolicyTypes)

	redis := o.policies["redis"].Spec
	require.Equal(t, []string{"worker"}, peers(t, o, redis.Ingress[0].From))
	require.Empty(t, redis.Egress)
	require.Contains(t, redis.PolicyTypes, networkingv1.PolicyTypeEgress)

	var reached []string
	for _, rule := range o.policies["worker"].Spec.Egress {
		require.NotEmpty(t, rule.To, "a rule without peers is for everybody")
		require.NotEmpty(t, rule.Ports, "a rule without ports is for all of them")
		reached = append(reached, peers(t, o, rule.To)...)
		for _, peer := range rule.To {
			if peer.IPBlock != nil {
				require.Contains(t, peer.IPBlock.Except, "169.254.0.0/16", "where clouds hand out credentials")
			}
		}
	}
	require.Equal(t, []string{"redis"}, reached)
	for name, policy := range o.policies {
		for _, rule := range policy.Spec.Ingress {
			require.NotEmpty(t, rule.From, name)
			requirePorts(t, o, policy, rule.Ports)
		}
	}
}

// requirePorts wants the ports that a policy opens to be those of the pods that it is for.
func requirePorts(t *testing.T, o *objects, policy *networkingv1.NetworkPolicy, opened []networkingv1.NetworkPolicyPort) {
	t.Helper()
	for _, pod := range selected(t, o, &policy.Spec.PodSelector) {
		for _, port := range opened {
			require.True(t, hasPort(o.pods()[pod], *port.Port), "%s opens %s, which %s does not have", policy.Name, port.Port, pod)
		}
	}
}

func hasPort(pod corev1.PodTemplateSpec, wanted intstr.IntOrString) bool {
	for _, c := range pod.Spec.Containers {
		for _, port := range c.Ports {
			if wanted.StrVal == port.Name || wanted.StrVal == "" && wanted.IntVal == port.ContainerPort {
				return true
			}
		}
	}
	return false
}

func TestProbesAskWhatIsThere(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	worker := container(t, o.worker.Spec.Template, "worker")
	for path, probe := range map[string]*corev1.Probe{"/livez": worker.LivenessProbe, "/readyz": worker.ReadinessProbe} {
		require.Equal(t, path, probe.HTTPGet.Path)
		require.True(t, hasPort(o.worker.Spec.Template, probe.HTTPGet.Port), probe.HTTPGet.Port)
	}
	// A worker that takes its time to start is not killed for it.
	require.Equal(t, "/livez", worker.StartupProbe.HTTPGet.Path)
	require.Len(t, worker.Ports, 1)
	require.Equal(t, fmt.Sprintf(":%d", worker.Ports[0].ContainerPort), o.setting(t, "admin.addr"))
	require.Equal(t, fmt.Sprint(worker.Ports[0].ContainerPort), o.worker.Spec.Template.Annotations["prometheus.io/port"])

	require.Equal(t, fmt.Sprintf("redis:%d", o.service.Spec.Ports[0].Port), o.setting(t, "redis.addr"))
	require.Equal(t, "redis", o.service.Name)
	require.True(t, hasPort(o.redis.Spec.Template, o.service.Spec.Ports[0].TargetPort))
	for name, pod := range o.pods() {
		for _, c := range containers(pod) {
			if runs := c.Name != "images"; runs {
				require.NotNil(t, c.StartupProbe, "%s %s", name, c.Name)
				require.NotNil(t, c.LivenessProbe, "%s %s", name, c.Name)
			}
		}
	}
}

// mounted are the paths that the volumes of a container put secrets and settings at.
func (o *objects) mounted(t *testing.T, pod corev1.PodTemplateSpec, c corev1.Container) map[string]bool {
	t.Helper()
	paths := map[string]bool{}
	for _, mount := range c.VolumeMounts {
		for _, volume := range pod.Spec.Volumes {
			if volume.Name != mount.Name {
				continue
			}
			for _, file := range o.contents(t, volume) {
				paths[mount.MountPath+"/"+file] = true
			}
		}
	}
	return paths
}

// contents are the files of a volume; it must be one that is made, and have the keys that it names.
func (o *objects) contents(t *testing.T, volume corev1.Volume) []string {
	t.Helper()
	switch {
	case volume.Secret != nil:
		secret := o.secrets[nameHash.ReplaceAllString(volume.Secret.SecretName, "")]
		require.NotNil(t, secret, "there is no Secret %s", volume.Secret.SecretName)
		require.Equal(t, secret.Name, volume.Secret.SecretName)
		return fileNames(t, sortedKeys(secret.Data), volume.Secret.Items)
	case volume.ConfigMap != nil:
		require.Equal(t, o.config.Name, volume.ConfigMap.Name)
		return fileNames(t, sortedKeys(o.config.Data), volume.ConfigMap.Items)
	}
	require.NotNil(t, volume.EmptyDir, "volume %s: nothing of the node", volume.Name)
	return nil
}

func fileNames(t *testing.T, keys []string, items []corev1.KeyToPath) (names []string) {
	t.Helper()
	if len(items) == 0 {
		return keys
	}
	for _, item := range items {
		require.Contains(t, keys, item.Key)
		names = append(names, item.Path)
	}
	return names
}

func TestSecretsAndSettingsAreWhereTheyAreReadFrom(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	require.Regexp(t, `^sandloop-[a-z0-9]{10}$`, o.config.Name, "a change of the settings is a change of the pods")
	pod := o.worker.Spec.Template
	has := o.mounted(t, pod, container(t, pod, "worker"))
	for _, key := range []string{"redis.password_file", "admin.token_file", "jobs.verify_key_file", "jobs.seal_key_file"} {
		require.Contains(t, has, o.setting(t, key), key)
	}
	require.Contains(t, has, "/etc/sandloop/sandloop.yaml", "where a worker looks for it")
	require.Contains(t, o.mounted(t, pod, container(t, pod, "images")), "/etc/sandloop/images.txt")
	for name, pod := range o.pods() {
		for _, c := range containers(pod) {
			require.Empty(t, c.EnvFrom, "%s %s", name, c.Name)
			for _, variable := range c.Env {
				require.Nil(t, variable.ValueFrom, "%s %s: a secret in the environment is in every dump of it", name, c.Name)
			}
			for _, mount := range c.VolumeMounts {
				require.True(t, hasVolume(o, name, mount.Name), "%s %s: there is no volume %s", name, c.Name, mount.Name)
			}
		}
	}
}

func hasVolume(o *objects, pod, volume string) bool {
	for _, v := range o.pods()[pod].Spec.Volumes {
		if v.Name == volume {
			return true
		}
	}
	for _, claim := range o.redis.Spec.VolumeClaimTemplates {
		if pod == "redis" && claim.Name == volume {
			return true
		}
	}
	return false
}

func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	for _, pod := range o.pods() {
		for _, c := range containers(pod) {
			require.Regexp(t, pinned, c.Image, c.Name)
		}
	}
	known := defaults(t)["languages.images"]
	for _, line := range strings.Split(strings.TrimSpace(o.config.Data["images.txt"]), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		require.Len(t, words, 2, line)
		require.Regexp(t, pinned, words[0])
		require.Contains(t, known, words[1], "no language uses this image")
	}
}

func TestOnlyTheDaemonIsPrivilegedAndOnlyOnNodesForIt(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	for name, pod := range o.pods() {
		spec := pod.Spec
		require.False(t, *spec.AutomountServiceAccountToken, name)
		require.False(t, *spec.EnableServiceLinks, name)
		require.False(t, spec.HostNetwork || spec.HostPID || spec.HostIPC, name)
		for _, c := range containers(pod) {
			if c.Name != "docker" {
				requireRestricted(t, name+" "+c.Name, spec.SecurityContext, c.SecurityContext)
			}
		}
	}
	require.True(t, *container(t, o.worker.Spec.Template, "docker").SecurityContext.Privileged)
	require.Equal(t, "privileged", o.namespace.Labels["pod-security.kubernetes.io/enforce"])
	pool := o.worker.Spec.Template.Spec.NodeSelector["sandloop.dev/pool"]
	require.Equal(t, "workers", pool)
	require.Equal(t, []corev1.Toleration{{Key: "sandloop.dev/pool", Operator: corev1.TolerationOpEqual, Value: pool, Effect: corev1.TaintEffectNoSchedule}},
		o.worker.Spec.Template.Spec.Tolerations)
}

// requireRestricted is Kubernetes' level "restricted" with a read-only root on top.
func requireRestricted(t *testing.T, name string, pod *corev1.PodSecurityContext, c *corev1.SecurityContext) {
	t.Helper()
	if pod == nil {
		pod = &corev1.PodSecurityContext{}
	}
	require.True(t, first(c.RunAsNonRoot, pod.RunAsNonRoot), name)
	require.Positive(t, first(c.RunAsUser, pod.RunAsUser), name)
	require.True(t, first(c.ReadOnlyRootFilesystem, nil), name)
	require.False(t, *c.AllowPrivilegeEscalation, name)
	require.Equal(t, []corev1.Capability{"ALL"}, c.Capabilities.Drop, name)
	require.Empty(t, c.Capabilities.Add, name)
	seccomp := c.SeccompProfile
	if seccomp == nil {
		seccomp = pod.SeccompProfile
	}
	require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, seccomp.Type, name)
}

// first is the value of the container, or else that of the pod, or else the type's zero.
func first[T any](container, pod *T) (value T) {
	switch {
	case container != nil:
		return *container
	case pod != nil:
		return *pod
	}
	return value
}

func TestTheDaemonIsUpBeforeTheWorkerAndListensToItAlone(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	pod := o.worker.Spec.Template
	docker := container(t, pod, "docker")
	require.Equal(t, "docker", pod.Spec.InitContainers[0].Name)
	require.Equal(t, corev1.ContainerRestartPolicyAlways, *docker.RestartPolicy, "a sidecar ends after the worker")
	require.Equal(t, "dockerd", docker.Args[0], "or the image listens on TCP")
	require.Empty(t, docker.Command, "the image's own start sets up control groups")
	socket := o.setting(t, "sandbox.docker_host")
	var hosts []string
	for _, arg := range docker.Args {
		if value, is := strings.CutPrefix(arg, "--host="); is {
			hosts = append(hosts, value)
		}
	}
	require.Equal(t, []string{socket}, hosts)
	for _, name := range []string{"docker", "images"} {
		require.Contains(t, container(t, pod, name).Env, corev1.EnvVar{Name: "DOCKER_HOST", Value: socket}, name)
	}
	for _, name := range []string{"docker", "images", "worker"} {
		require.Contains(t, container(t, pod, name).VolumeMounts, corev1.VolumeMount{Name: "socket", MountPath: "/run/sandloop"}, name)
	}
	require.True(t, strings.HasPrefix(socket, "unix:///run/sandloop/"), socket)
	for _, name := range []string{"images", "worker"} {
		require.Contains(t, docker.Args, fmt.Sprintf("--group=%d", *container(t, pod, name).SecurityContext.RunAsGroup))
	}
	require.Equal(t, "false", o.setting(t, "sandbox.allow_network"), "the daemon has no bridge")
	require.Contains(t, docker.Args, "--bridge=none")
}

func TestWorkersHaveTimeToDrain(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	grace, err := time.ParseDuration(o.setting(t, "worker.grace"))
	require.NoError(t, err)
	given := time.Duration(*o.worker.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	require.GreaterOrEqual(t, given, 2*grace+30*time.Second)
	require.Equal(t, intstr.FromInt32(0), *o.worker.Spec.Strategy.RollingUpdate.MaxUnavailable)
	require.Equal(t, intstr.FromInt32(1), *o.budget.Spec.MaxUnavailable, "a budget of none would keep a node from being drained")
}

func TestWhatTheSlotsTakeFitsIntoThePodTwice(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	jobs := o.number(t, "worker.concurrency") + o.number(t, "worker.interactive_slots") + o.number(t, "sessions.live")
	require.Equal(t, int64(13), jobs)
	each := size(t, o.setting(t, "limits.defaults.memory"))
	docker := container(t, o.worker.Spec.Template, "docker")
	limit := docker.Resources.Limits.Memory().Value()
	require.LessOrEqual(t, 2*jobs*each, limit, "validators have sandboxes beside those of the jobs")
	require.LessOrEqual(t, size(t, o.setting(t, "limits.maxima.memory"))+jobs*each, limit, "and one job may be large")
	require.Positive(t, o.number(t, "worker.concurrency"), "0 would count the whole node")
	for name, pod := range o.pods() {
		for _, c := range containers(pod) {
			require.False(t, c.Resources.Limits.Memory().IsZero(), "%s %s", name, c.Name)
			require.False(t, c.Resources.Requests.Cpu().IsZero(), "%s %s", name, c.Name)
		}
	}
}

func TestRedisOfTheClusterKeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	redis := container(t, o.redis.Spec.Template, "redis")
	require.Empty(t, redis.Args)
	script := strings.Join(redis.Command, " ")
	require.Contains(t, script, "--appendonly yes")
	require.Contains(t, script, "--maxmemory-policy noeviction")
	most := regexp.MustCompile(`--maxmemory (\d+)gb`).FindStringSubmatch(script)
	require.Len(t, most, 2)
	bytes := resource.MustParse(most[1] + "Gi")
	require.LessOrEqual(t, 2*bytes.Value(), redis.Resources.Limits.Memory().Value(), "a rewrite of the AOF can take as much again")
	require.Equal(t, int32(1), *o.redis.Spec.Replicas)
	require.Len(t, o.redis.Spec.VolumeClaimTemplates, 1)
	require.Contains(t, redis.VolumeMounts, corev1.VolumeMount{Name: o.redis.Spec.VolumeClaimTemplates[0].Name, MountPath: "/data"})
	require.Contains(t, script, "--dir /data")
}
