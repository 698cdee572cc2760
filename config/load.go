package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

const fileName = "sandloop.yaml"

// Load reads the defaults, over them the file, over that the environment and over all the
// flags that AddFlags and AddFlag made, and validates the outcome. An empty variable or
// flag counts as not set. The error tells everything that is wrong.
func Load(flags *pflag.FlagSet) (Config, error) {
	v := viper.New()
	for key, value := range Default().values() {
		v.SetDefault(key, value)
		if err := v.BindEnv(key, EnvName(key)); err != nil {
			return Config{}, fmt.Errorf("bind %s: %w", key, err)
		}
	}
	if err := bindFlags(v, flags); err != nil {
		return Config{}, err
	}
	file, err := findFile(flags)
	if err != nil {
		return Config{}, err
	}
	if file != "" {
		if err := readFile(v, file); err != nil {
			return Config{}, fmt.Errorf("configuration file %s: %w", file, err)
		}
	}
	c := Config{File: file}
	if err := v.UnmarshalExact(&c, strict); err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", decodeProblems(err))
	}
	return c, errors.Join(c.readSecrets(), c.Validate())
}

// findFile returns the file to read, or "" when none was named and none is in the usual places.
func findFile(flags *pflag.FlagSet) (string, error) {
	if flag := flags.Lookup(configFlag); flag != nil && flag.Value.String() != "" {
		return flag.Value.String(), nil
	}
	if named := os.Getenv(EnvPrefix + "CONFIG"); named != "" {
		return named, nil
	}
	places := []string{fileName}
	if home, err := os.UserConfigDir(); err == nil {
		places = append(places, filepath.Join(home, "sandloop", fileName))
	}
	places = append(places, filepath.Join("/etc/sandloop", fileName))
	for _, place := range places {
		_, err := os.Stat(place)
		if err == nil {
			return place, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for a configuration file: %w", err)
		}
	}
	return "", nil
}

// readFile merges a YAML file into v and refuses every key that does not exist.
func readFile(v *viper.Viper, file string) error {
	content, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	// A viper of its own, since one with defaults no longer tells what the file holds.
	own := viper.New()
	own.SetConfigType("yaml")
	if err := own.ReadConfig(bytes.NewReader(content)); err != nil {
		return err
	}
	known := Default().values()
	var errs []error
	for _, key := range own.AllKeys() {
		if _, exists := known[key]; exists {
			continue
		}
		if own.Get(key) == nil && isSection(key, known) {
			continue // a section whose keys are all commented out
		}
		errs = append(errs, unknownKey(key, known))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return v.MergeConfigMap(own.AllSettings())
}

func isSection(key string, known map[string]any) bool {
	for name := range known {
		if strings.HasPrefix(name, key+".") {
			return true
		}
	}
	return false
}

func unknownKey(key string, known map[string]any) error {
	if isSection(key, known) {
		return fmt.Errorf("%s: is a section and takes no value of its own", key)
	}
	for name := range known {
		if strings.HasPrefix(key, name+".") {
			return fmt.Errorf("%s: is not a section", name)
		}
	}
	return fmt.Errorf("%s: there is no such key", key)
}
