package config

import (
	"fmt"
	"log/slog"
)

const redacted = "xxxxx"

// Redacted returns a copy in which every secret that is set is "xxxxx".
func (c Config) Redacted() Config {
	for _, secret := range []*string{&c.Redis.Password, &c.Redis.SentinelPassword, &c.Admin.Token} {
		if *secret != "" {
			*secret = redacted
		}
	}
	c.Redis.Addr = redactURL(c.Redis.Addr)
	return c
}

// LogValue logs every key, with secrets redacted.
func (c Config) LogValue() slog.Value {
	values := c.Redacted().values()
	attrs := make([]slog.Attr, 0, len(values)+1)
	for _, key := range Keys() {
		attrs = append(attrs, slog.String(key, fmt.Sprint(values[key])))
	}
	return slog.GroupValue(append(attrs, slog.String("file", c.File))...)
}
