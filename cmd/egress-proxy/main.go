// Command egress-proxy is process 1 of the container through which programs with a network reach what they may. It is static, so that
// it runs in any image. A worker starts it and tells it over stdin who may reach what; it ends with its stdin.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/sandloop/sandloop/internal/egress"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "egress-proxy:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("egress-proxy", flag.ContinueOnError)
	listen := flags.String("listen", ":3128", "the address to listen on")
	file := flags.String("rules", "", "the file of the rules that jobs can have")
	dns := flags.String("dns", "", "the DNS server to ask, host:port; empty are the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	content, err := os.ReadFile(*file)
	if err != nil {
		return fmt.Errorf("--rules: %w", err)
	}
	rules, err := egress.DecodeRules(content)
	if err != nil {
		return fmt.Errorf("--rules: %s: %w", *file, err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", *listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return egress.Run(ctx, listener, egress.Network{Resolve: egress.ResolveAt(*dns)}, rules, stdin, stdout)
}
