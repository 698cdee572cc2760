package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRulesForRuntimesComeFromFileAndVariable(t *testing.T) {
	load := setup(t)
	const text = `[{tenants: ["guest-*", ""], runtime: runsc}, {tenants: ["*"], runtime: kata.v2}]`
	want := []RuntimeRule{{Tenants: []string{"guest-*", ""}, Runtime: "runsc"}, {Tenants: []string{"*"}, Runtime: "kata.v2"}}
	c, err := load("sandbox: {runtimes: " + text + "}")
	require.NoError(t, err)
	require.Equal(t, want, c.Sandbox.Runtimes)
	require.Equal(t, map[string]string{"sandbox.runtimes[0].runtime": "runsc", "sandbox.runtimes[1].runtime": "kata.v2"}, c.Sandbox.RuntimeKeys())

	t.Setenv("SANDLOOP_SANDBOX_RUNTIMES", text)
	t.Setenv("SANDLOOP_SANDBOX_RUNTIME", "runc")
	c, err = load("sandbox: {runtimes: [{tenants: [x], runtime: y}]}")
	require.NoError(t, err)
	require.Equal(t, want, c.Sandbox.Runtimes)
	require.Equal(t, "runc", c.Sandbox.RuntimeKeys()["sandbox.runtime"])
}

func TestWhatARuleForARuntimeMustNotBe(t *testing.T) {
	load := setup(t)
	for content, want := range map[string]string{
		`sandbox: {runtimes: [{tenants: [a]}]}`:                                              `sandbox.runtimes[0].runtime: "" is not allowed: want 1 to 64 letters`,
		`sandbox: {runtimes: [{tenants: [a], runtime: "run sc"}]}`:                           `sandbox.runtimes[0].runtime: "run sc" is not allowed`,
		`sandbox: {runtimes: [{tenants: [a], runtime: b}, {runtime: c}]}`:                    `sandbox.runtimes[1].tenants: [] is not allowed: want at least one name`,
		`sandbox: {runtimes: [{tenant: [a], runtime: b}]}`:                                   "tenant",
		`sandbox: {runtimes: [{tenants: a, runtime: b}]}`:                                    "sandbox.runtimes[0].tenants",
		`sandbox: {runtimes: [{tenants: [7], runtime: b}]}`:                                  "put it in quotes",
		`sandbox: {runtimes: runsc}`:                                                         `sandbox.runtimes: "runsc" is not a list: want it in YAML`,
		`sandbox: {runtimes: {a: b}}`:                                                        "sandbox.runtimes",
		`sandbox: {runtimes: [{tenants: ["` + strings.Repeat("a", 129) + `"], runtime: b}]}`: "sandbox.runtimes[0].tenants[0]",
	} {
		_, err := load(content)
		require.ErrorContains(t, err, want, content)
	}
}
