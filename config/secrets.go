package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// readSecrets fills the passwords and Admin.Token from their files.
func (c *Config) readSecrets() error {
	return errors.Join(
		readSecret("redis.password", &c.Redis.Password, c.Redis.PasswordFile),
		readSecret("redis.sentinel_password", &c.Redis.SentinelPassword, c.Redis.SentinelPasswordFile),
		readSecret("admin.token", &c.Admin.Token, c.Admin.TokenFile),
	)
}

// readSecret fills the secret of a key from a file, if there is one.
func readSecret(key string, secret *string, file string) error {
	if file == "" {
		return nil
	}
	if *secret != "" {
		return fmt.Errorf("%s_file: %s is set too: want one of them", key, key)
	}
	content, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("%s_file: %w", key, err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	*secret = strings.TrimSuffix(line, "\r")
	if *secret == "" {
		return fmt.Errorf("%s_file: the first line of %s is empty", key, file)
	}
	return nil
}
