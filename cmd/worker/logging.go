package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/sandloop/sandloop/config"
)

// newLogger writes to w as the configuration says: text for people at a terminal, JSON for machines.
func newLogger(w io.Writer, c config.Log) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: writeDuration}
	if c.Format == "text" || (c.Format == "auto" && isTerminal(w)) {
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return slog.New(slog.NewJSONHandler(w, options)), nil
}

// writeDuration writes 1.5s also in JSON, which otherwise has a number without a unit.
func writeDuration(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindDuration {
		attr.Value = slog.StringValue(attr.Value.Duration().String())
	}
	return attr
}

func isTerminal(w io.Writer) bool {
	file, isFile := w.(*os.File)
	return isFile && term.IsTerminal(int(file.Fd()))
}
