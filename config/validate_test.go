package config

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestTheDefaultsAreValid(t *testing.T) {
	t.Parallel()
	require.NoError(t, Default().Validate())
}

func TestLimitsThatMeanForEverAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"NaN processors":           {func(c *Config) { c.Limits.Defaults.CPUs = math.NaN() }, "limits.defaults.cpus: NaN is not allowed: want 0.01 to 4 (limits.maxima)"},
		"infinite processors":      {func(c *Config) { c.Limits.Maxima.CPUs = math.Inf(1) }, "limits.maxima.cpus: +Inf is not allowed: want 0.01 to 1024"},
		"no memory":                {func(c *Config) { c.Limits.Defaults.Memory = 0 }, "limits.defaults.memory: 0 is not allowed: want 32MiB to 4GiB"},
		"negative memory":          {func(c *Config) { c.Limits.Maxima.Memory = -1 }, "limits.maxima.memory: -1 is not allowed: want 32MiB to 1024GiB"},
		"no wall time":             {func(c *Config) { c.Limits.Defaults.WallTime = 0 }, "limits.defaults.wall_time: 0s is not allowed: want 10ms to 15m0s"},
		"a year":                   {func(c *Config) { c.Limits.Maxima.WallTime = 365 * 24 * time.Hour }, "limits.maxima.wall_time: 8760h0m0s is not allowed"},
		"default above maximum":    {func(c *Config) { c.Limits.Defaults.PIDs = 2000 }, "limits.defaults.pids: 2000 is not allowed: want 1 to 1024 (limits.maxima)"},
		"no maximum of processes":  {func(c *Config) { c.Limits.Maxima.PIDs = 0 }, "limits.maxima.pids: 0 is not allowed"},
		"negative output kill":     {func(c *Config) { c.Limits.Defaults.OutputKill = -5 }, "limits.defaults.output_kill: -5 is not allowed: want 0 to"},
		"retention below a minute": {func(c *Config) { c.Jobs.Retention = time.Second }, "jobs.retention: 1s is not allowed: want 1m0s to 2160h0m0s"},
		"a session of nothing":     {func(c *Config) { c.Sessions.Quota = 0 }, "sessions.quota: 0 is not allowed: want 4KiB to 256MiB"},
		"a session of all memory":  {func(c *Config) { c.Sessions.Quota = Size(sandbox.GiB) }, "sessions.quota: 1GiB is not allowed: want 4KiB to 256MiB"},
		"a session without files":  {func(c *Config) { c.Sessions.MaxFiles = 0 }, "sessions.max_files: 0 is not allowed: want 1 to 100000"},
		"a session that is gone":   {func(c *Config) { c.Sessions.Expiry = time.Second }, "sessions.expiry: 1s is not allowed: want 1m0s to 2160h0m0s"},
		"fewer than no sessions":   {func(c *Config) { c.Sessions.Live = -1 }, "sessions.live: -1 is not allowed: want 0 to 1000"},
		"idle without end":         {func(c *Config) { c.Sessions.IdleTimeout = 0 }, "sessions.idle_timeout: 0s is not allowed: want 1s to 8h0m0s"},
		"idle beyond the end":      {func(c *Config) { c.Sessions.IdleTimeout = 9 * time.Hour }, "sessions.idle_timeout: 9h0m0s is not allowed: want 1s to 8h0m0s"},
		"live for ever":            {func(c *Config) { c.Sessions.AbsoluteTimeout = 0 }, "sessions.absolute_timeout: 0s is not allowed: want 1s to 720h0m0s"},
		"runtime with a space":     {func(c *Config) { c.Sandbox.Runtime = "a b" }, `sandbox.runtime: "a b" is not allowed`},
		"a huge cache":             {func(c *Config) { c.Worker.BlobCache = Size(65 * sandbox.GiB) }, "worker.blob_cache: 65GiB is not allowed: want 0 to 64GiB"},
		"cert without key":         {func(c *Config) { c.Redis.TLS.Cert = "a.pem" }, "redis.tls.cert and redis.tls.key"},
		"braces in the prefix":     {func(c *Config) { c.Redis.Prefix = "{x}" }, "redis.prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Default()
			test.change(&c)
			require.ErrorContains(t, c.Validate(), test.want)
		})
	}
}

func TestNoLiveInterpretersIsAChoice(t *testing.T) {
	t.Parallel()
	c := Default()
	require.Equal(t, Sessions{
		Quota: 67108864, MaxFiles: 1000, Expiry: 86400 * time.Second,
		Live: 4, IdleTimeout: 900 * time.Second, AbsoluteTimeout: 28800 * time.Second,
	}, c.Sessions)
	c.Sessions.Live, c.Sessions.IdleTimeout = 0, c.Sessions.AbsoluteTimeout
	require.NoError(t, c.Validate())
	c.Sessions.AbsoluteTimeout = -1
	require.EqualError(t, c.Validate(), "sessions.absolute_timeout: -1ns is not allowed: want 1s to 720h0m0s", "one problem, one line")
}

func TestAddressesOfRedis(t *testing.T) {
	t.Parallel()
	for addr, valid := range map[string]bool{
		"embedded": true, "localhost:6379": true, "[::1]:6379": true,
		"redis://h:1": true, "rediss://u:p@h:1/3": true, "redis+sentinel://a:1,b:2/main": true, "redis+cluster://a:1,b:2": true, "rediss+cluster://a:1": true,
		"": false, "localhost": false, ":6379": false, "h:0": false, "h:70000": false, "h:x": false,
		"http://h": false, "redis://": false, "redis:///0": false,
	} {
		c := Default()
		c.Redis.Addr = addr
		if err := c.Validate(); valid {
			require.NoError(t, err, addr)
		} else {
			require.ErrorContains(t, err, "redis.addr", addr)
		}
	}
}

func TestTheEmbeddedRedisStaysOnLoopback(t *testing.T) {
	t.Parallel()
	for addr, valid := range map[string]bool{
		"127.0.0.1:6390": true, "localhost:1": true, "[::1]:6390": true, "127.8.8.8:1": true,
		"0.0.0.0:6390": false, ":6390": false, "10.0.0.1:6390": false, "redis.example:1": false, "127.0.0.1": false,
	} {
		c := Default()
		c.Redis.EmbeddedAddr = addr
		require.Equal(t, valid, c.Validate() == nil, addr)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Redis.Addr = "redis://me:hunter2@host:6379/1"
	c.Redis.SentinelPassword = "hunter3"
	require.Equal(t, "redis://me:xxxxx@host:6379/1", c.Redacted().Redis.Addr)
	require.NotContains(t, c.LogValue().String(), "hunter")
	require.Contains(t, c.LogValue().String(), "redis.sentinel_password=xxxxx")
	require.Contains(t, c.LogValue().String(), "limits.defaults.memory=256MiB")
	require.Equal(t, "redis://me:hunter2@host:6379/1", c.Redis.Addr, "the original is unchanged")

	c.Redis.Password = "hunter4"
	c.Redis.Addr = "redis://me:hun@ter2@host:6379"
	require.ErrorContains(t, c.Validate(), "redis.password")
	require.NotContains(t, c.Validate().Error(), "hun")
	require.NotContains(t, c.LogValue().String(), "hun")
	c.Redis.Addr = "htp://me:hunter2@host"
	require.NotContains(t, c.Validate().Error(), "hunter")
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{
		"0": 0, "1": 1, "256MiB": 268435456, "256 MB": 268435456, "64k": 65536, "1.5GiB": 1610612736,
	} {
		size, err := ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, size, text)
	}
	for _, text := range []string{"", "-1", "-1MiB", "MiB", "lots", "NaN", "inf", "1 XiB", "99999999999999999999GiB"} {
		_, err := ParseSize(text)
		require.Error(t, err, text)
	}
	for size, want := range map[Size]string{0: "0", 1: "1", 1000000: "1000000", 65536: "64KiB", 268435456: "256MiB", 1610612736: "1536MiB", 4294967296: "4GiB"} {
		require.Equal(t, want, size.String())
	}
}
