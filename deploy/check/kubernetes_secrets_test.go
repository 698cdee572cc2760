package check

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const mountedSecrets = "/run/secrets/sandloop/"

// secretsIn names the files of secrets that a container has, and wants it to be the only one who can read them.
func (o *objects) secretsIn(t *testing.T, pod corev1.PodTemplateSpec, c corev1.Container) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, mount := range c.VolumeMounts {
		for _, volume := range pod.Spec.Volumes {
			if volume.Name != mount.Name || volume.Secret == nil {
				continue
			}
			require.True(t, mount.ReadOnly, c.Name)
			require.Equal(t, int32(0o440), first(volume.Secret.DefaultMode, nil), "%s: a key that others can read is refused", c.Name)
			require.NotNil(t, pod.Spec.SecurityContext, c.Name)
			group := first(c.SecurityContext.RunAsGroup, pod.Spec.SecurityContext.RunAsGroup)
			require.Equal(t, group, first(pod.Spec.SecurityContext.FSGroup, nil), "%s cannot read what is root's", c.Name)
			for _, file := range o.contents(t, volume) {
				require.Equal(t, mountedSecrets+file, mount.MountPath+"/"+file)
				names[file] = true
			}
		}
	}
	return names
}

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

func TestEachContainerHasTheSecretsThatItNeedsAndNoOthers(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	for name, pod := range o.pods() {
		for _, c := range containers(pod) {
			want := map[string]map[string]bool{
				"worker": set("worker-password", "admin-token", "sign-key", "seal-key"), "redis": set("users.acl"), "docker": {}, "images": {},
			}[c.Name]
			require.NotNil(t, want, "%s %s", name, c.Name)
			require.Equal(t, want, o.secretsIn(t, pod, c), "%s %s", name, c.Name)
		}
	}
}

func TestSecretsOfTheClusterAreTheFilesThatTheScriptMakes(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	require.Equal(t, []string{"sandloop-producer", "sandloop-redis", "sandloop-worker"}, sortedKeys(o.secrets))
	used := map[string]bool{}
	for name, secret := range o.secrets {
		require.Equal(t, name != "sandloop-producer", nameHash.MatchString(secret.Name), "%s: a change of a secret is a change of our pods; those of others know it by its name", name)
		for file, content := range secret.Data {
			require.Equal(t, o.files[file], string(content), "%s %s", name, file)
			used[file] = true
		}
	}
	require.Equal(t, sortedKeys(o.files), sortedKeys(used))
}

func TestRedisOfTheClusterHasTheUsersAndNoOtherPassword(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	pod := o.redis.Spec.Template
	redis := container(t, pod, "redis")
	require.Equal(t, []string{"redis-server", "--aclfile", mountedSecrets + "users.acl"}, redis.Command[:3])
	require.Empty(t, redis.Env)
	for _, option := range []string{"--requirepass", "--user", "--masterauth"} {
		require.NotContains(t, redis.Command, option)
	}
	for _, probe := range []*corev1.Probe{redis.StartupProbe, redis.LivenessProbe, redis.ReadinessProbe} {
		require.Len(t, probe.Exec.Command, 3)
		require.True(t, strings.HasPrefix(probe.Exec.Command[2], "redis-cli ping | grep -q NOAUTH"), "a probe has no password: %s", probe.Exec.Command[2])
	}
	users := string(o.secrets["sandloop-redis"].Data["users.acl"])
	require.True(t, strings.HasPrefix(users, "user default off\n"))
	password := strings.TrimSpace(string(o.secrets["sandloop-worker"].Data["worker-password"]))
	require.Contains(t, users, letIn(o.setting(t, "redis.username"), password))
}

// producer is the pod that producers are told to copy from.
func producer(t *testing.T) corev1.PodTemplateSpec {
	t.Helper()
	object, _, err := decoder(t).Decode(read(t, filepath.Join(kubernetesDir, "producer.yaml")), nil, nil)
	require.NoError(t, err)
	pod := object.(*corev1.Pod) //nolint:forcetypeassert // or the test ends here
	require.Equal(t, "sandloop", pod.Namespace)
	return corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
}

func TestAProducersPodSubmitsSignedAndSealedJobsAsAProducer(t *testing.T) {
	t.Parallel()
	o, pod := kubernetes(t), producer(t)
	c := container(t, pod, "enqueue")
	require.Equal(t, set("producer-password", "sign-key", "seal-key"), o.secretsIn(t, pod, c))
	environment := map[string]string{}
	for _, variable := range c.Env {
		require.Nil(t, variable.ValueFrom, variable.Name)
		environment[variable.Name] = variable.Value
	}
	require.Equal(t, map[string]string{
		"SANDLOOP_REDIS_ADDR": o.setting(t, "redis.addr"), "SANDLOOP_REDIS_USERNAME": "sandloop-producer",
		"SANDLOOP_REDIS_PASSWORD_FILE": mountedSecrets + "producer-password",
		"SANDLOOP_JOBS_SIGN_KEY_FILE":  o.setting(t, "jobs.verify_key_file"),
		"SANDLOOP_JOBS_SEAL_KEY_FILE":  o.setting(t, "jobs.seal_key_file"),
	}, environment)
	users := string(o.secrets["sandloop-redis"].Data["users.acl"])
	password := strings.TrimSpace(string(o.secrets["sandloop-producer"].Data["producer-password"]))
	require.Contains(t, users, letIn(environment["SANDLOOP_REDIS_USERNAME"], password))

	require.Equal(t, container(t, o.worker.Spec.Template, "worker").Image, c.Image)
	requireRestricted(t, "producer", pod.Spec.SecurityContext, c.SecurityContext)
	require.False(t, *pod.Spec.AutomountServiceAccountToken)
	for name, selector := range map[string]*metav1.LabelSelector{
		"let out": &o.policies["producer"].Spec.PodSelector, "let in": o.policies["redis"].Spec.Ingress[0].From[1].PodSelector,
	} {
		require.Equal(t, pod.Labels, selector.MatchLabels, name)
	}
}
