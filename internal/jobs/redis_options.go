package jobs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisOptions say where Redis is and how to get in.
type RedisOptions struct {
	// Addr is host:port or a URL:
	//
	//	redis://user:password@host:port/db, rediss:// for TLS
	//	redis+sentinel://user:password@host:port,host:port/master/db
	//	redis+cluster://user:password@host:port,host:port
	//
	// The port is 6379 by default, for sentinels 26379. Special characters in user and
	// password are percent-encoded.
	Addr string
	// Username and Password are for an ACL user; in a URL they must not be given twice.
	Username, Password string
	// SentinelUsername and SentinelPassword are for the sentinels themselves.
	SentinelUsername, SentinelPassword string
	// DB is the number of the database, 0 in a Cluster.
	DB int
	// TLS turns TLS on, as rediss does. CA, Cert and Key are PEM files; without CA the
	// system's authorities count. ServerName is the name in the server's certificate, by default the host's.
	TLS           bool
	CA, Cert, Key string
	ServerName    string
	// PoolSize bounds the connections, 10 for each CPU when 0.
	PoolSize int
}

// redisTarget is what an address says.
type redisTarget struct {
	kind   string // "", "sentinel" or "cluster"
	tls    bool
	hosts  []string
	master string
}

// ConnectRedis makes a client, which connects when it is first used. No error it returns
// holds a password.
func ConnectRedis(options RedisOptions) (redis.UniversalClient, error) {
	target, err := options.parse()
	if err != nil {
		return nil, fmt.Errorf("redis address: %w", err)
	}
	var secure *tls.Config
	if target.tls || options.TLS {
		if secure, err = options.tlsConfig(); err != nil {
			return nil, fmt.Errorf("redis tls: %w", err)
		}
	}
	universal := &redis.UniversalOptions{
		Addrs: target.hosts, MasterName: target.master, IsClusterMode: target.kind == "cluster",
		Username: options.Username, Password: options.Password, DB: options.DB, TLSConfig: secure,
		SentinelUsername: options.SentinelUsername, SentinelPassword: options.SentinelPassword,
		ContextTimeoutEnabled: true, PoolSize: options.PoolSize, MaxRetries: 5, MaxRetryBackoff: 500 * time.Millisecond, DialTimeout: 3 * time.Second,
		ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, // for the largest jobs and results
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if target.kind == "cluster" {
		cluster := universal.Cluster()
		cluster.ClusterStateReloadInterval = clusterReload
		return redis.NewClusterClient(cluster), nil
	}
	return redis.NewUniversalClient(universal), nil
}

// clusterReload is how old a map of the cluster may be. A replica that takes over tells nobody, and a master that died
// sends nobody elsewhere, so until then all that it had is out of reach.
const clusterReload = 2 * time.Second

// parse reads Addr; what a URL says beside the hosts goes into the options.
func (o *RedisOptions) parse() (redisTarget, error) {
	scheme, rest, isURL := strings.Cut(o.Addr, "://")
	if !isURL {
		scheme, rest = "redis", o.Addr
	}
	target := redisTarget{tls: strings.HasPrefix(scheme, "rediss")}
	base, kind, _ := strings.Cut(scheme, "+")
	target.kind = kind
	if !slices.Contains([]string{"redis", "rediss"}, base) || !slices.Contains([]string{"", "sentinel", "cluster"}, kind) {
		return target, fmt.Errorf("the scheme %q is unknown: want redis, rediss, redis+sentinel or redis+cluster", scheme)
	}
	authority, path, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(rest, "?#") {
		return target, errors.New("there is a ? or # in it: want those percent-encoded, and no query")
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if err := o.readUser(authority[:i]); err != nil {
			return target, err
		}
		authority = authority[i+1:]
	}
	port := "6379"
	if kind == "sentinel" {
		port = "26379"
	}
	for _, host := range strings.Split(authority, ",") {
		address, err := hostPort(host, port)
		if err != nil {
			return target, err
		}
		target.hosts = append(target.hosts, address)
	}
	if kind != "cluster" && kind != "sentinel" && len(target.hosts) > 1 {
		return target, fmt.Errorf("there are %d hosts: want one, or the scheme %s+cluster or %s+sentinel", len(target.hosts), base, base)
	}
	return target, o.readPath(&target, strings.Trim(path, "/"))
}

// readUser reads user:password. Its errors do not quote it.
func (o *RedisOptions) readUser(text string) error {
	if o.Password != "" {
		return errors.New("there is a password beside the one in the URL: want one of them")
	}
	user, password, hasPassword := strings.Cut(text, ":")
	var err error
	if o.Password, err = url.PathUnescape(password); err == nil && user != "" {
		o.Username, err = url.PathUnescape(user)
	}
	if err != nil || !hasPassword {
		return errors.New("user and password are not readable: want user:password, special characters percent-encoded")
	}
	return nil
}

func (o *RedisOptions) readPath(target *redisTarget, path string) error {
	db := path
	if target.kind == "sentinel" {
		target.master, db, _ = strings.Cut(path, "/")
		if target.master == "" {
			return errors.New("the name of the master is missing: want redis+sentinel://host:port/master")
		}
	}
	if db != "" {
		number, err := strconv.Atoi(db)
		if err != nil || number < 0 {
			return fmt.Errorf("the database %q is not a number from 0", db)
		}
		o.DB = number
	}
	if target.kind == "cluster" && o.DB != 0 {
		return fmt.Errorf("the database is %d: a cluster has only 0", o.DB)
	}
	return nil
}

func hostPort(text, defaultPort string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil && !strings.Contains(strings.Trim(text, "[]"), ":") {
		host, port, err = text, defaultPort, nil
	}
	number, portErr := strconv.Atoi(port)
	if err != nil || host == "" || portErr != nil || number < 1 || number > 65535 {
		return "", fmt.Errorf("%q is not host:port", text)
	}
	return net.JoinHostPort(host, port), nil
}

func (o *RedisOptions) tlsConfig() (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.ServerName}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("read ca: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read ca: %s holds no certificate in PEM", o.CA)
		}
	}
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("read client certificate: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	return secure, nil
}
