package jobs

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

func TestRedisAddressIsRead(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]struct {
		target redisTarget
		user   string
		pass   string
		db     int
	}{
		"localhost:6379":                           {target: redisTarget{hosts: []string{"localhost:6379"}}},
		"redis://localhost":                        {target: redisTarget{hosts: []string{"localhost:6379"}}},
		"redis://[::1]:7000/3":                     {target: redisTarget{hosts: []string{"[::1]:7000"}}, db: 3},
		"rediss://bob:p%40ss%2F@h:1/2":             {target: redisTarget{tls: true, hosts: []string{"h:1"}}, user: "bob", pass: "p@ss/", db: 2},
		"redis://:p:q@h:1":                         {target: redisTarget{hosts: []string{"h:1"}}, pass: "p:q"},
		"redis+sentinel://bob:x@a:1,b,c:3/main":    {target: redisTarget{kind: "sentinel", hosts: []string{"a:1", "b:26379", "c:3"}, master: "main"}, user: "bob", pass: "x"},
		"redis+sentinel://a/main/4":                {target: redisTarget{kind: "sentinel", hosts: []string{"a:26379"}, master: "main"}, db: 4},
		"redis+cluster://a:1,b:2":                  {target: redisTarget{kind: "cluster", hosts: []string{"a:1", "b:2"}}},
		"rediss+cluster://bob:x@a.example.org:1/0": {target: redisTarget{kind: "cluster", tls: true, hosts: []string{"a.example.org:1"}}, user: "bob", pass: "x"},
	} {
		options := RedisOptions{Addr: addr}
		target, err := options.parse()
		require.NoError(t, err, addr)
		require.Equal(t, want.target, target, addr)
		require.Equal(t, []any{want.user, want.pass, want.db}, []any{options.Username, options.Password, options.DB}, addr)
	}
}

func TestRedisAddressIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"http://bob:s3cret@h":                   `the scheme "http" is unknown`,
		"redis+other://bob:s3cret@h":            `the scheme "redis+other" is unknown`,
		"redis://bob:s3cret@":                   `"" is not host:port`,
		"redis://bob:s3cret%zz@h":               "user and password are not readable",
		"redis://s3cret@h":                      "user and password are not readable",
		"redis://bob:s3cret@h:0":                `"h:0" is not host:port`,
		"redis://bob:s3cret@h:1:2":              `"h:1:2" is not host:port`,
		"redis://bob:s3cret@h/x":                `the database "x" is not a number`,
		"redis://bob:s3cret@h,i":                "there are 2 hosts: want one",
		"redis://bob:s3cret@h/0?x=1":            "there is a ? or #",
		"redis+sentinel://bob:s3cret@h":         "the name of the master is missing",
		"redis+cluster://bob:s3cret@h:1,i:2/1":  "a cluster has only 0",
		"redis+sentinel://bob:s3cret@h:1,:2/ma": `":2" is not host:port`,
	} {
		_, err := ConnectRedis(RedisOptions{Addr: addr})
		require.ErrorContains(t, err, want, addr)
		require.NotContains(t, err.Error(), "s3cret")
	}
	_, err := ConnectRedis(RedisOptions{Addr: "redis://bob:s3cret@h", Password: "s3cret2"})
	require.ErrorContains(t, err, "want one of them")
	require.NotContains(t, err.Error(), "s3cret")
}

func TestConnectRedisMakesTheRightClient(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]any{
		"redis://h": &redis.Client{}, "redis+sentinel://h/main": &redis.Client{},
		"redis+cluster://h": &redis.ClusterClient{}, "redis+cluster://h,i": &redis.ClusterClient{},
	} {
		client, err := ConnectRedis(RedisOptions{Addr: addr})
		require.NoError(t, err)
		require.IsType(t, want, client, addr)
		require.NoError(t, client.Close())
	}
}

func TestRedisTLSFiles(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad.pem")
	require.NoError(t, os.WriteFile(bad, []byte("x"), 0o600))
	_, err := ConnectRedis(RedisOptions{Addr: "rediss://h", CA: bad})
	require.ErrorContains(t, err, "holds no certificate")
	_, err = ConnectRedis(RedisOptions{Addr: "redis://h", TLS: true, CA: bad + "x"})
	require.ErrorContains(t, err, "read ca")
	_, err = ConnectRedis(RedisOptions{Addr: "rediss://h", Cert: bad, Key: bad})
	require.ErrorContains(t, err, "read client certificate")
	client, err := ConnectRedis(RedisOptions{Addr: "rediss://h", ServerName: "redis.example.org"})
	require.NoError(t, err)
	secure := client.(*redis.Client).Options().TLSConfig
	require.Equal(t, "redis.example.org", secure.ServerName)
	require.Equal(t, uint16(tls.VersionTLS12), secure.MinVersion)
	require.NoError(t, client.Close())
}

func TestConnectRedisAsAnACLUser(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisServer(t, "--user", "bob", "on", ">p@ss", "~*", "&*", "+@all", "--user", "default", "off")
	client, err := ConnectRedis(RedisOptions{Addr: "redis://bob:p%40ss@" + addr})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	name, err := client.Do(t.Context(), "ACL", "WHOAMI").Text()
	require.NoError(t, err)
	require.Equal(t, "bob", name)
	wrong, err := ConnectRedis(RedisOptions{Addr: addr, Username: "bob", Password: "s3cret"})
	require.NoError(t, err)
	defer func() { require.NoError(t, wrong.Close()) }()
	_, err = CheckRedis(t.Context(), wrong)
	require.ErrorContains(t, err, "reach redis")
	require.NotContains(t, err.Error(), "s3cret")
}
