// Command sandbox-init is process 1 in every sandbox: it takes jobs over stdin, runs them one by one
// and reports over stdout. It is static, so that it runs in any image.
//
// It has no more open files than a job may have, so Go must not keep those of the cgroup open by which it
// follows changes of the CPU limit.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox/supervisor"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-init:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin, stdout *os.File) error {
	flags := flag.NewFlagSet("sandbox-init", flag.ContinueOnError)
	deadline := flags.Duration("deadline", time.Hour, "exit after this time, whatever happens")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *deadline <= 0 {
		return fmt.Errorf("deadline is %s: want a positive duration", *deadline)
	}
	return supervisor.Run(stdin, stdout, *deadline)
}
