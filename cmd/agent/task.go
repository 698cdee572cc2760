package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/cli"
)

// maxTask is the largest task in bytes; more is most likely the wrong file.
const maxTask = 1 << 20

// taskSource tells where the task comes from.
type taskSource struct{ file string }

func (s *taskSource) add(flags *pflag.FlagSet) {
	flags.StringVar(&s.file, "task-file", "", "`FILE` that holds the task")
}

func (s *taskSource) args(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return fmt.Errorf("want one task, in quotes, and got %d arguments", len(args))
	case len(args) == 1 && s.file != "":
		return errors.New("--task-file: there is a task on the command line too: want one of them")
	}
	return nil
}

// read returns the task, or "" when none is given.
func (s *taskSource) read(ctx context.Context, a *app, args []string) (string, error) {
	var task string
	switch {
	case s.file != "" || (len(args) == 1 && args[0] == "-"):
		name := "-"
		if s.file != "" {
			name = s.file
		}
		data, err := cli.Read(ctx, name, a.stdin, maxTask)
		if err != nil {
			return "", fmt.Errorf("the task: %w", err)
		}
		task = string(data)
	case len(args) == 1:
		task = args[0]
	default:
		return "", nil
	}
	if strings.TrimSpace(task) == "" {
		return "", cli.Usagef("the task is empty")
	}
	return strings.ToValidUTF8(task, "\uFFFD"), nil
}
