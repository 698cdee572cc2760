package testenv

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// ServeDNS answers questions over UDP at a free port of a host's address until the test ends, and returns address and
// port. Answer gets messages with one question; all others go unanswered.
func ServeDNS(t testing.TB, host netip.Addr, answer func(question dnsmessage.Message) *dnsmessage.Message) string {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", netip.AddrPortFrom(host, 0).String())
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var question dnsmessage.Message
			if question.Unpack(buffer[:n]) != nil || len(question.Questions) != 1 {
				continue
			}
			if packed, err := answer(question).Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}
