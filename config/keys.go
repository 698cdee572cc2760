package config

import (
	"reflect"
	"sort"
	"strings"
)

// EnvPrefix starts the name of every environment variable that is read.
const EnvPrefix = "SANDLOOP_"

// EnvName is the environment variable of a key: SANDLOOP_REDIS_ADDR for redis.addr.
func EnvName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// Keys lists every key in order.
func Keys() []string {
	values := Default().values()
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// values returns every setting by its key.
func (c Config) values() map[string]any {
	flat := map[string]any{}
	flatten("", reflect.ValueOf(c), flat)
	return flat
}

func flatten(prefix string, section reflect.Value, flat map[string]any) {
	for i := range section.NumField() {
		tag := section.Type().Field(i).Tag.Get("mapstructure")
		switch field := section.Field(i); {
		case tag == "-":
		case field.Kind() == reflect.Struct:
			flatten(prefix+tag+".", field, flat)
		default:
			flat[prefix+tag] = field.Interface()
		}
	}
}
