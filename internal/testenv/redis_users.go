package testenv

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The users of deploy/redis/users.acl, and one more that may do everything.
const (
	RedisWorker   = "sandloop-worker"
	RedisProducer = "sandloop-producer"
	RedisAdmin    = "admin"
)

// RedisPassword is the password of a user of RedisWithUsers.
func RedisPassword(user string) string { return "the-password-of-" + user }

// RedisWithUsers is RedisServer for programs that connect as one of the users whom deploy/redis/users.acl has.
func RedisWithUsers(t testing.TB, args ...string) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	users, err := os.ReadFile(filepath.Join(root, "deploy/redis/users.acl")) //nolint:gosec // a file of the repository
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("WORKER_PASSWORD_SHA256", passwordHash(RedisWorker), "PRODUCER_PASSWORD_SHA256", passwordHash(RedisProducer)).Replace(string(users))
	text += "user " + RedisAdmin + " on #" + passwordHash(RedisAdmin) + " ~* &* +@all\n"
	path := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil { //nolint:gosec // a path of ours
		t.Fatal(err)
	}
	return RedisServer(t, append([]string{"--aclfile", path}, args...)...)
}

func passwordHash(user string) string {
	sum := sha256.Sum256([]byte(RedisPassword(user)))
	return hex.EncodeToString(sum[:])
}
