package check

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const secretsScript = "../../scripts/secrets.sh"

// secretsOf runs scripts/secrets.sh on a folder and returns the files that are there then, by name.
func secretsOf(t *testing.T, folder string) (files map[string]string, said string) {
	t.Helper()
	script := exec.CommandContext(t.Context(), "bash", "-c", `umask 0 && exec "$@"`, "bash", secretsScript, folder)
	out, err := script.CombinedOutput()
	require.NoError(t, err, "%s", out)
	files = map[string]string{}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		files[entry.Name()] = string(read(t, filepath.Join(folder, entry.Name())))
	}
	return files, string(out)
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// letIn is how users.acl lets in a user with passwords.
func letIn(user string, passwords ...string) string {
	line := "user " + user + " on "
	for _, password := range passwords {
		line += fmt.Sprintf("#%x ", sha256.Sum256([]byte(password)))
	}
	return line + "~"
}

func TestSecretsAreMadeForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "secrets")
	files, said := secretsOf(t, folder)
	require.Equal(t, []string{"admin-token", "producer-password", "seal-key", "sign-key", "users.acl", "worker-password"}, sortedKeys(files))
	require.Equal(t, os.ModeDir|0o700, mode(t, folder))
	seen := map[string]bool{}
	for name, content := range files {
		require.Equal(t, os.FileMode(0o600), mode(t, filepath.Join(folder, name)), name)
		require.Contains(t, said, filepath.Join(folder, name)+" made\n")
		if name != "users.acl" {
			require.Regexp(t, `^[0-9a-f]{64}\n$`, content, name)
			require.NotContains(t, said, strings.TrimSpace(content), name)
			require.NotContains(t, files["users.acl"], strings.TrimSpace(content), name)
			require.False(t, seen[content], "two files have one secret")
			seen[content] = true
		}
	}
	require.Equal(t, 6, strings.Count(said, "\n"), "a line for each: %s", said)
	for _, user := range []string{"worker", "producer"} {
		require.Contains(t, files["users.acl"], letIn("sandloop-"+user, strings.TrimSpace(files[user+"-password"])))
	}
	// All but the hashes is as it is published.
	hash := regexp.MustCompile(`#(WORKER_PASSWORD_SHA256|PRODUCER_PASSWORD_SHA256|[0-9a-f]{64})`)
	published := hash.ReplaceAllString(string(read(t, "../redis/users.acl")), "#")
	require.Equal(t, published, hash.ReplaceAllString(files["users.acl"], "#"))
	require.True(t, strings.HasPrefix(published, "user default off\n"))
}

func TestSecretsThatAreThereStay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "sign-key"), "# mine\nkey")
	before, _ := secretsOf(t, folder)
	require.Equal(t, "# mine\nkey", before["sign-key"])
	again, said := secretsOf(t, folder)
	require.Equal(t, before, again)
	require.NotContains(t, said, "made")
	require.NoError(t, os.Remove(filepath.Join(folder, "seal-key")))
	third, said := secretsOf(t, folder)
	require.NotEqual(t, before["seal-key"], third["seal-key"])
	third["seal-key"] = before["seal-key"]
	require.Equal(t, before, third, "what is missing is made and nothing else")
	require.Equal(t, 1, strings.Count(said, "made"))
}

func TestTheUsersOfRedisFollowThePasswords(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, _ = secretsOf(t, folder)
	users := filepath.Join(folder, "users.acl")
	require.NoError(t, os.Chmod(users, 0o640)) // its owner's doing
	write(t, filepath.Join(folder, "worker-password"), "new one\r\nold one")
	files, said := secretsOf(t, folder)
	require.Contains(t, said, users+" made anew")
	require.Contains(t, files["users.acl"], letIn("sandloop-worker", "new one", "old one"))
	require.Contains(t, files["users.acl"], letIn("sandloop-producer", strings.TrimSpace(files["producer-password"])))
	require.Equal(t, os.FileMode(0o640), mode(t, users))
	write(t, filepath.Join(folder, "worker-password"), "new one\n")
	files, _ = secretsOf(t, folder)
	require.Contains(t, files["users.acl"], letIn("sandloop-worker", "new one"))
}

func TestAWrongCallForSecretsSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "file"), "")
	write(t, filepath.Join(folder, "empty/admin-token"), "")
	write(t, filepath.Join(folder, "line/worker-password"), "\nsecond\n")
	write(t, filepath.Join(folder, "comment/worker-password"), "new\n# old one, out in May\n")
	for _, test := range []struct {
		args []string
		code int
		said string
	}{
		{nil, 2, "secrets: want one folder\nUsage: scripts/secrets.sh FOLDER\n"},
		{[]string{""}, 2, "want one folder"},
		{[]string{folder + "/a", folder + "/b"}, 2, "want one folder"},
		{[]string{"--force"}, 2, "want one folder"},
		{[]string{"--help"}, 0, "\nUsage: scripts/secrets.sh FOLDER\n"},
		{[]string{folder + "/file"}, 1, "mkdir: "},
		{[]string{folder + "/empty"}, 1, "secrets: " + folder + "/empty/admin-token is empty: "},
		{[]string{folder + "/comment"}, 1, "secrets: " + folder + "/comment/worker-password has a line that begins with #: "},
		{[]string{folder + "/line"}, 1, "secrets: " + folder + "/line/worker-password has an empty line: "},
	} {
		script := exec.CommandContext(t.Context(), secretsScript, test.args...)
		out, _ := script.CombinedOutput() // its code is what is looked at
		require.Equal(t, test.code, script.ProcessState.ExitCode(), "%s: %s", test.args, out)
		require.Contains(t, string(out), test.said, test.args)
	}
	require.NoFileExists(t, folder+"/line/users.acl")
	require.NoDirExists(t, folder+"/a")
}

// Redis without users lets in everybody, so what cannot be made right leaves users.acl as it is.
func TestUsersOfRedisStayWhereNoHashCanBeMade(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	before, _ := secretsOf(t, folder)
	write(t, filepath.Join(folder, "worker-password"), "another\n")
	tools := t.TempDir()
	for _, tool := range []string{"bash", "dirname", "mkdir", "od", "tr", "cut", "sed", "cat", "mv", "rm"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(tools, tool)))
	}
	script := exec.CommandContext(t.Context(), "bash", secretsScript, folder)
	script.Env = []string{"PATH=" + tools}
	out, err := script.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "sha256sum gave no hash of a line of "+folder+"/worker-password")
	require.Equal(t, before["users.acl"], string(read(t, filepath.Join(folder, "users.acl"))))
}
