package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// oneID checks the arguments of a command about one job.
func oneID(_ *cobra.Command, ids []string) error {
	if len(ids) != 1 {
		return errors.New("want the id of one job, as submit printed it")
	}
	return nil
}

// someIDs checks the arguments of a command about jobs.
func someIDs(_ *cobra.Command, ids []string) error {
	if len(ids) == 0 {
		return errors.New("want the ids of jobs, as submit printed them")
	}
	return nil
}
