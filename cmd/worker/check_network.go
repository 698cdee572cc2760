package main

import (
	"context"
	_ "embed" // for network.sh
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

//go:embed network.sh
var networkScript string

// reaches are what network.sh tries, and what must become of it whatever the rules say.
var reaches = []struct {
	fact  string
	asked string
}{
	{"the internet, past the gate", "nobody answers"},
	{"the host", "nobody answers"},
	{"cloud metadata", "nobody answers"},
	{"a name", "not resolved"},
	{"the gate", "connected"},
	{"the gate, without the job's password", "407 sandloop: want the user and password that HTTPS_PROXY has"},
	{"an address, through the gate", `403 sandloop: "192.0.2.1" is an address: only names can be reached`},
}

// networked is a tenant to whom the first rule gives a network.
func networked(e *docker.Egress) string { return strings.ReplaceAll(e.Rules[0].Tenants[0], "*", "") }

// network looks at a sandbox with a network: the first image that has the tools for it tells for all. It adds to the report of that image.
func (c *checker) network(ctx context.Context, images []imageReport, tenant string) error {
	at := 0
	for at < len(images)-1 && !images[at].connects {
		at++
	}
	image := &images[at]
	if !image.connects {
		image.Controls = append(image.Controls, control{Name: "network", Asked: "looked at", Found: "not looked at: no image has bash and timeout"})
		return nil
	}
	result, err := c.run(ctx, sandbox.Program{Language: shellOf(image.Image), Source: []byte(networkScript), Network: true, Tenant: tenant})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		image.Controls = append(image.Controls, control{Name: "network", Asked: "a sandbox with one starts", Found: firstLine([]byte(err.Error()))})
	case result.Outcome != sandbox.OutcomeOK:
		found := strings.TrimSpace(fmt.Sprintf("%s %s %s", result.Outcome, result.Message, firstLine(result.Stderr.Data)))
		image.Controls = append(image.Controls, control{Name: "network", Asked: string(sandbox.OutcomeOK), Found: found})
	default:
		image.Controls = append(image.Controls, networkControls(result)...)
	}
	return nil
}

// networkControls compare what a program with a network reached with what it should, and what was noted of it.
func networkControls(result sandbox.Result) []control {
	facts := readFacts(string(result.Stdout.Data))
	noted := "nothing"
	if result.Network != nil {
		noted = fmt.Sprintf("%d refused, %d connected", result.Network.Refused, int64(len(result.Network.Connections))+result.Network.More-result.Network.Refused)
	}
	controls := []control{
		same("network: interfaces", "eth0", listed(result.Enforcement.Interfaces)),
		same("network: routes past the gate", "none", listed(facts["route"])),
	}
	for _, reach := range reaches {
		if reach.fact == "a name" && facts[reach.fact] == nil {
			continue // the image has no getent
		}
		controls = append(controls, same("network: "+reach.fact, reach.asked, only(facts[reach.fact])))
	}
	return append(controls, same("network: in the job's record", "2 refused, 0 connected", noted))
}
