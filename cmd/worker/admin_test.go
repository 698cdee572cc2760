package main

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
)

func TestAnAddressThatIsTakenKeepsAWorkerFromStarting(t *testing.T) {
	t.Parallel()
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	addr := other.Addr().String()
	code, _, said := runNow(t, onDocker(t)+"redis: {embedded_addr: \""+freeAddr(t)+"\"}\n", "--embedded", "--admin", addr)
	require.Equal(t, 1, code)
	require.Contains(t, said, "admin.addr: "+addr+" is in use, by another worker perhaps")
	require.Contains(t, said, "--admin ADDRESS")
}

func TestAnAddressOfAnotherMachineIsNamed(t *testing.T) {
	t.Parallel()
	_, err := listenAdmin(t.Context(), config.Admin{Addr: "192.0.2.1:9390"})
	require.ErrorContains(t, err, "admin.addr: ")
	require.ErrorContains(t, err, "192.0.2.1")
	listener, err := listenAdmin(context.Background(), config.Admin{})
	require.NoError(t, err)
	require.Nil(t, listener, "by default nothing is served")
}
