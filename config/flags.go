package config

import (
	"fmt"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

const (
	keyAnnotation = "sandloop_key"
	configFlag    = "config"
	redisFlag     = "redis"
)

// AddFlags adds the flags that every command has: --config, --redis, --trace, --log-level and --log-format.
func AddFlags(flags *pflag.FlagSet) {
	flags.String(configFlag, "", "the configuration `file`; the default is the first that exists of\n./sandloop.yaml, $XDG_CONFIG_HOME/sandloop/sandloop.yaml, /etc/sandloop/sandloop.yaml")
	AddFlag(flags, redisFlag, "redis.addr", "`address` of Redis: embedded, host:port or a URL without a password")
	AddFlag(flags, "trace", "tracing.endpoint", "send traces to this OTLP over HTTP `endpoint`")
	AddFlag(flags, "log-level", "log.level", "log this `level` and above: debug, info, warn, error")
	AddFlag(flags, "log-format", "log.format", "log `format`: auto, text, json")
}

// AddFlag adds a flag that sets a key. It panics if there is no such key.
func AddFlag(flags *pflag.FlagSet, name, key, usage string) {
	if _, known := Default().values()[key]; !known {
		panic("config has no key " + key)
	}
	// Its text is decoded like that of an environment variable, so one set of rules holds for both.
	flags.String(name, "", usage)
	if err := flags.SetAnnotation(name, keyAnnotation, []string{key}); err != nil {
		panic(err) // the flag was added on the line above
	}
}

// bindFlags gives each key the flag that AddFlag made for it, if it was used.
func bindFlags(v *viper.Viper, flags *pflag.FlagSet) (err error) {
	if flag := flags.Lookup(redisFlag); flag != nil && hasPassword(flag.Value.String()) {
		return fmt.Errorf("--%s: %q has a password, which all users of the machine see in its list of processes: "+
			"want it in redis.password_file or %s", redisFlag, redactURL(flag.Value.String()), EnvName("redis.password"))
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if key := flag.Annotations[keyAnnotation]; len(key) == 1 && err == nil {
			err = v.BindPFlag(key[0], flag)
		}
	})
	return err
}
