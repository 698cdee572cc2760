package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// readPassword fills Redis.Password from Redis.PasswordFile.
func (c *Config) readPassword() error {
	if c.Redis.PasswordFile == "" {
		return nil
	}
	if c.Redis.Password != "" {
		return errors.New("redis.password_file: redis.password is set too: want one of them")
	}
	content, err := os.ReadFile(c.Redis.PasswordFile)
	if err != nil {
		return fmt.Errorf("redis.password_file: %w", err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	c.Redis.Password = strings.TrimSuffix(line, "\r")
	if c.Redis.Password == "" {
		return fmt.Errorf("redis.password_file: the first line of %s is empty", c.Redis.PasswordFile)
	}
	return nil
}
