package jobs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// authority signs certificates of a test.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// file is the authority's own certificate.
	file string
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test's authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	a := &authority{t: t, cert: cert, key: key, file: filepath.Join(t.TempDir(), "ca.pem")}
	a.write(a.file, "CERTIFICATE", der)
	return a
}

func (a *authority) write(path, kind string, der []byte) {
	a.t.Helper()
	require.NoError(a.t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

// issue makes a certificate for a name, with its key, as files.
func (a *authority) issue(name string, ends time.Time) (cert, key string) {
	a.t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: ends,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &own.PublicKey, a.key)
	require.NoError(a.t, err)
	private, err := x509.MarshalECPrivateKey(own)
	require.NoError(a.t, err)
	dir := a.t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.write(cert, "CERTIFICATE", der)
	a.write(key, "EC PRIVATE KEY", private)
	return cert, key
}

// secured serves a Redis over TLS. It takes clients without a certificate if clients is nil.
func secured(t testing.TB, redis, cert, key string, clients *authority, versions uint16) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: versions}
	if clients != nil {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AddCert(clients.cert)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { forward(t, conn, redis) })
		}
	})
	t.Cleanup(func() { require.NoError(t, listener.Close()); open.Wait() })
	return listener.Addr().String()
}

func forward(t testing.TB, conn net.Conn, to string) {
	defer func() { _ = conn.Close() }()
	server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(server, conn); _ = server.Close() })
	both.Go(func() { _, _ = io.Copy(conn, server); _ = conn.Close() })
	both.Wait()
}

func TestTheCertificateOfRedisIsVerified(t *testing.T) {
	t.Parallel()
	redis, ours, other := testenv.RedisServer(t), newAuthority(t), newAuthority(t)
	later := time.Now().Add(time.Hour)
	cert, key := ours.issue("redis.internal", later)
	good := secured(t, redis, cert, key, nil, tls.VersionTLS13)
	expired, expiredKey := ours.issue("redis.internal", time.Now().Add(-time.Minute))
	clientCert, clientKey := ours.issue("a worker", later)
	strangerCert, strangerKey := other.issue("a worker", later)
	wantsClient := secured(t, redis, cert, key, ours, tls.VersionTLS13)
	named := RedisOptions{TLS: true, CA: ours.file, ServerName: "redis.internal"}
	with := func(addr string, change func(*RedisOptions)) RedisOptions {
		o := named
		o.Addr = addr
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		options RedisOptions
		refused string
	}{
		"the right authority and name":    {with(good, func(*RedisOptions) {}), ""},
		"as a URL":                        {with("rediss://"+good, func(o *RedisOptions) { o.TLS = false }), ""},
		"another authority":               {with(good, func(o *RedisOptions) { o.CA = other.file }), "unknown authority"},
		"the system's authorities":        {with(good, func(o *RedisOptions) { o.CA = "" }), "unknown authority"},
		"another name":                    {with(good, func(o *RedisOptions) { o.ServerName = "redis.example.org" }), "not redis.example.org"},
		"no name, and an address":         {with(good, func(o *RedisOptions) { o.ServerName = "" }), "127.0.0.1"},
		"no TLS":                          {RedisOptions{Addr: good}, ""},
		"a certificate that expired":      {with(secured(t, redis, expired, expiredKey, nil, tls.VersionTLS13), func(*RedisOptions) {}), "expired"},
		"an old version of TLS":           {with(secured(t, redis, cert, key, nil, tls.VersionTLS11), func(*RedisOptions) {}), "protocol version"},
		"a client's certificate":          {with(wantsClient, func(o *RedisOptions) { o.Cert, o.Key = clientCert, clientKey }), ""},
		"no client's certificate":         {with(wantsClient, func(*RedisOptions) {}), "certificate required"},
		"a client of another authority's": {with(wantsClient, func(o *RedisOptions) { o.Cert, o.Key = strangerCert, strangerKey }), "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb, err := ConnectRedis(c.options)
			require.NoError(t, err)
			err = rdb.Ping(t.Context()).Err()
			require.NoError(t, rdb.Close())
			switch {
			case c.options.CA == "" && !c.options.TLS:
				require.Error(t, err, "what listens is no plain Redis")
			case c.refused == "":
				require.NoError(t, err)
			default:
				require.ErrorContains(t, err, c.refused)
			}
		})
	}
}
