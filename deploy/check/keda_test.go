package check

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// The release of KEDA whose definitions are used, and the checksum that Go's database has for it. Its Go types would bring
// the libraries of sixty services with them; the API server knows only the definition, which is in the same release.
const (
	kedaModule = "github.com/kedacore/keda/v2@v2.21.0"
	kedaSum    = "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps="
)

// kedaRelease is where Go has unpacked the release, which it fetches once.
var kedaRelease = sync.OnceValues(func() (dir string, err error) {
	download := exec.Command("go", "mod", "download", "-json", kedaModule) //nolint:noctx // the go command bounds itself
	download.Dir = os.TempDir()                                            // in a module it would write to go.sum
	out, err := download.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w: %s", kedaModule, err, out)
	}
	var module struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", err
	}
	if module.Sum != kedaSum {
		return "", fmt.Errorf("%s has the checksum %s: want %s", kedaModule, module.Sum, kedaSum)
	}
	return module.Dir, nil
})

func kedaFile(t *testing.T, path string) []byte {
	t.Helper()
	dir, err := kedaRelease()
	require.NoError(t, err)
	return read(t, filepath.Join(dir, path))
}

// scaledObjectSchema is what the API server holds a ScaledObject to.
func scaledObjectSchema(t *testing.T) *spec.Schema {
	t.Helper()
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string `json:"name"`
				Schema struct {
					OpenAPIV3Schema spec.Schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	require.NoError(t, yaml.Unmarshal(kedaFile(t, "config/crd/bases/keda.sh_scaledobjects.yaml"), &definition))
	require.Len(t, definition.Spec.Versions, 1)
	require.Equal(t, "v1alpha1", definition.Spec.Versions[0].Name)
	return &definition.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// unknown lists the fields of a value that its schema does not have.
func unknown(schema *spec.Schema, value any, path string) (fields []string) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			fields = append(fields, unknown(schema.Items.Schema, element, path+"[]")...)
		}
	case map[string]any:
		for _, name := range sortedKeys(value) {
			property, known := schema.Properties[name]
			switch {
			case known:
				fields = append(fields, unknown(&property, value[name], path+"."+name)...)
			case schema.AdditionalProperties == nil && len(schema.Properties) > 0: // metadata has no list here
				fields = append(fields, path+"."+name)
			}
		}
	}
	return fields
}

// scaledProblems tells everything that is wrong with a ScaledObject.
func scaledProblems(t *testing.T, content []byte) (problems []string) {
	t.Helper()
	var object any
	require.NoError(t, yaml.UnmarshalStrict(content, &object))
	schema := scaledObjectSchema(t)
	for _, err := range validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(object).Errors {
		problems = append(problems, err.Error())
	}
	return append(problems, unknown(schema, object, "")...)
}

// scaledObject is the part of it that must fit the rest.
type scaledObject struct {
	Spec struct {
		ScaleTargetRef struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int `json:"minReplicaCount"`
		MaxReplicaCount int `json:"maxReplicaCount"`
		Fallback        struct {
			Behavior string `json:"behavior"`
		} `json:"fallback"`
		Triggers []struct {
			Type       string            `json:"type"`
			MetricType string            `json:"metricType"`
			Metadata   map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

func TestKEDAKnowsEveryFieldOfTheScaledObject(t *testing.T) {
	t.Parallel()
	require.Empty(t, scaledProblems(t, kubernetes(t).scaled))
}

func TestAWrongFieldOfAScaledObjectIsFound(t *testing.T) {
	t.Parallel()
	const start = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n"
	for name, wrong := range map[string]string{
		"unknown":  "  scaleTargetRef: {name: a}\n  triggers: [{type: prometheus, metadata: {}}]\n  maxReplicas: 3\n",
		"deep":     "  scaleTargetRef: {name: a}\n  triggers: [{type: prometheus, metadata: {}, treshold: a}]\n",
		"missing":  "  scaleTargetRef: {name: a}\n",
		"type":     "  scaleTargetRef: {name: a}\n  triggers: [{type: prometheus, metadata: {threshold: 8}}]\n",
		"no value": "  scaleTargetRef: {name: a}\n  fallback: {failureThreshold: 1, replicas: 1, behavior: keep}\n  triggers: [{type: prometheus, metadata: {}}]\n",
	} {
		require.Len(t, scaledProblems(t, []byte(start+wrong)), 1, name)
	}
}

func TestWorkersFollowTheJobsThatAreThere(t *testing.T) {
	t.Parallel()
	o := kubernetes(t)
	var scaled scaledObject
	require.NoError(t, yaml.Unmarshal(o.scaled, &scaled))
	s := scaled.Spec
	require.Equal(t, []string{"apps/v1", "Deployment", o.worker.Name}, []string{s.ScaleTargetRef.APIVersion, s.ScaleTargetRef.Kind, s.ScaleTargetRef.Name})
	require.Nil(t, o.worker.Spec.Replicas, "an apply would undo what KEDA set")
	require.Positive(t, s.MinReplicaCount, "without a worker nobody tells how long the queue is")
	require.Greater(t, s.MaxReplicaCount, s.MinReplicaCount)
	require.Equal(t, "currentReplicas", s.Fallback.Behavior)
	require.Len(t, s.Triggers, 1)
	trigger := s.Triggers[0]
	require.Equal(t, "AverageValue", trigger.MetricType, "what the fallback needs")
	require.Equal(t, o.setting(t, "worker.concurrency"), trigger.Metadata["threshold"])
	known := triggerParameters(t, trigger.Type)
	for name := range trigger.Metadata {
		require.Contains(t, known, name, "KEDA's trigger %s", trigger.Type)
	}
	require.Empty(t, exprProblems(t, trigger.Metadata["query"]))
	require.Contains(t, trigger.Metadata["query"], `namespace="`+o.worker.Namespace+`"`)
}

// triggerParameters are the parameters that KEDA's list of its triggers has for one.
func triggerParameters(t *testing.T, kind string) (names []string) {
	t.Helper()
	var list struct {
		Scalers []struct {
			Type       string `json:"type"`
			Parameters []struct {
				Name string `json:"name"`
			} `json:"parameters"`
		} `json:"scalers"`
	}
	require.NoError(t, json.Unmarshal(kedaFile(t, "schema/generated/scalers-schema.json"), &list))
	for _, scaler := range list.Scalers {
		if scaler.Type == kind {
			for _, parameter := range scaler.Parameters {
				names = append(names, parameter.Name)
			}
		}
	}
	require.NotEmpty(t, names, "KEDA has no trigger %s", kind)
	return names
}
