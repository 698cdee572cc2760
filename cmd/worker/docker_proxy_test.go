package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
)

func TestTheProxyAllowsTheRuntimesOfTheSettingsAlone(t *testing.T) {
	t.Parallel()
	guests := []config.RuntimeRule{{Tenants: []string{"guest-*"}, Runtime: "runsc"}}
	require.Equal(t, []string{""}, allowedRuntimes(config.Sandbox{}))
	require.Equal(t, []string{"", "runsc"}, allowedRuntimes(config.Sandbox{Runtimes: guests}))
	require.Equal(t, []string{"kata", "runsc"}, allowedRuntimes(config.Sandbox{Runtime: "kata", Runtimes: guests}))
}
