package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// flat is a YAML file as its keys, such as worker.grace, and their values as text.
func flat(t *testing.T, content []byte) map[string]string {
	t.Helper()
	var tree map[string]any
	require.NoError(t, yaml.UnmarshalStrict(content, &tree))
	values := map[string]string{}
	flatten("", tree, values)
	return values
}

func flatten(prefix string, tree map[string]any, values map[string]string) {
	for key, value := range tree {
		if section, is := value.(map[string]any); is {
			flatten(prefix+key+".", section, values)
			continue
		}
		values[prefix+key] = fmt.Sprint(value)
	}
}

// defaults are the settings of the example file, which a test of config holds to the code; languages.images has
// all images of the table of languages.
func defaults(t *testing.T) map[string]string {
	t.Helper()
	values := flat(t, read(t, "../../config/sandloop.example.yaml"))
	images := map[string]bool{}
	for key, value := range flat(t, read(t, "../../config/languages.yaml")) {
		if key == "image" || strings.HasSuffix(key, ".image") {
			images[value] = true
		}
	}
	require.NotEmpty(t, images)
	values["languages.images"] = strings.Join(sortedKeys(images), " ")
	return values
}

// setting is what a worker of the cluster has for a key.
func (o *objects) setting(t *testing.T, key string) string {
	t.Helper()
	value, set := flat(t, []byte(o.config.Data["sandloop.yaml"]))[key]
	if !set {
		value, set = defaults(t)[key]
	}
	require.True(t, set, "there is no key %s", key)
	return value
}

func (o *objects) number(t *testing.T, key string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(o.setting(t, key), 10, 64)
	require.NoError(t, err)
	return n
}

// size is a setting such as 256MiB in bytes.
func size(t *testing.T, text string) int64 {
	t.Helper()
	for unit, bytes := range map[string]int64{"MiB": 1 << 20, "GiB": 1 << 30} {
		if number, is := strings.CutSuffix(text, unit); is {
			n, err := strconv.ParseInt(number, 10, 64)
			require.NoError(t, err)
			return n * bytes
		}
	}
	t.Fatalf("%q is no size", text)
	return 0
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := slices.AppendSeq([]K{}, maps.Keys(m))
	slices.Sort(keys)
	return keys
}
