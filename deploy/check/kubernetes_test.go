package check

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const kubernetesDir = "../kubernetes"

// objects are what kubectl apply -k deploy/kubernetes sends, by type.
type objects struct {
	namespace   *corev1.Namespace
	config      *corev1.ConfigMap
	secrets     map[string]*corev1.Secret // without the hash in their names
	files       map[string]string         // what scripts/secrets.sh has made for them
	service     *corev1.Service
	redis       *appsv1.StatefulSet
	worker      *appsv1.Deployment
	budget      *policyv1.PodDisruptionBudget
	policies    map[string]*networkingv1.NetworkPolicy
	scaled      []byte // the ScaledObject, as YAML
	inNamespace map[string]string
}

// rendered runs kustomize on a copy of the folder that has secrets as its first lines say.
func rendered(t *testing.T) (resources resmap.ResMap, secrets map[string]string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(kubernetesDir)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "secrets"))) // an operator's own
	require.Contains(t, string(read(t, filepath.Join(dir, "kustomization.yaml"))), "scripts/secrets.sh deploy/kubernetes/secrets")
	secrets, _ = secretsOf(t, filepath.Join(dir, "secrets"))
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	require.NoError(t, err)
	return resources, secrets
}

// decoder reads objects as an API server does that refuses unknown and repeated fields.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
}

func kubernetes(t *testing.T) *objects {
	t.Helper()
	resources, files := rendered(t)
	o := &objects{
		secrets: map[string]*corev1.Secret{}, files: files, policies: map[string]*networkingv1.NetworkPolicy{}, inNamespace: map[string]string{},
	}
	decode := decoder(t)
	for _, resource := range resources.Resources() {
		content, err := resource.AsYAML()
		require.NoError(t, err)
		name := resource.GetKind() + " " + resource.GetName()
		o.inNamespace[name] = resource.GetNamespace()
		if resource.GetKind() == "ScaledObject" {
			o.scaled = content
			continue
		}
		object, _, err := decode.Decode(content, nil, nil)
		require.NoError(t, err, "%s:\n%s", name, content)
		o.add(t, object)
	}
	return o
}

// nameHash is what kustomize puts behind a name. It has no vowels.
var nameHash = regexp.MustCompile(`-[bcdfghkmt2456789]{10}$`)

// add wants each kind once; of secrets and network policies there are several.
func (o *objects) add(t *testing.T, object runtime.Object) {
	t.Helper()
	switch object := object.(type) {
	case *corev1.Namespace:
		once(t, &o.namespace, object)
	case *corev1.ConfigMap:
		once(t, &o.config, object)
	case *corev1.Secret:
		o.secrets[nameHash.ReplaceAllString(object.Name, "")] = object
	case *corev1.Service:
		once(t, &o.service, object)
	case *appsv1.StatefulSet:
		once(t, &o.redis, object)
	case *appsv1.Deployment:
		once(t, &o.worker, object)
	case *policyv1.PodDisruptionBudget:
		once(t, &o.budget, object)
	case *networkingv1.NetworkPolicy:
		o.policies[object.Name] = object
	default:
		t.Fatalf("nobody looks at a %T", object)
	}
}

func once[T any](t *testing.T, place **T, object *T) {
	t.Helper()
	require.Nil(t, *place, "a second %T", object)
	*place = object
}

// pods are the templates of everything that makes pods.
func (o *objects) pods() map[string]corev1.PodTemplateSpec {
	return map[string]corev1.PodTemplateSpec{"worker": o.worker.Spec.Template, "redis": o.redis.Spec.Template}
}

// containers are those of a pod in the order of their start.
func containers(pod corev1.PodTemplateSpec) []corev1.Container {
	return slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
}

func container(t *testing.T, pod corev1.PodTemplateSpec, name string) corev1.Container {
	t.Helper()
	all := containers(pod)
	at := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == name })
	require.GreaterOrEqual(t, at, 0, "no container %s", name)
	return all[at]
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func TestKubernetesKnowsEveryFieldAndAllIsInOneNamespace(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	require.NotNil(t, o.scaled, "no ScaledObject")
	for name, namespace := range o.inNamespace {
		if name != "Namespace sandloop" {
			require.Equal(t, "sandloop", namespace, name)
		}
	}
	require.Equal(t, []string{"deny", "producer", "redis", "worker"}, sortedKeys(o.policies))
}

func TestAWrongFieldOfAnObjectIsRefused(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]string{
		"unknown":  "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, lables: {}}\n",
		"repeated": "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nmetadata: {name: b}\n",
		"case":     "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {clusterip: None}\n",
		"type":     "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: two}\n",
		"kind":     "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}\n",
	} {
		_, _, err := decoder(t).Decode([]byte(wrong), nil, nil)
		require.Error(t, err, name)
	}
}
