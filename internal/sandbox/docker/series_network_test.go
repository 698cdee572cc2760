package docker

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// connections are so many to numbered hosts.
func connections(from, count int) (made []sandbox.Connection) {
	for i := range count {
		made = append(made, sandbox.Connection{Host: fmt.Sprintf("h%d", from+i), Verdict: sandbox.ConnectionAllowed})
	}
	return made
}

func TestNetworkUseOfASeriesIsThatOfAllItsContainers(t *testing.T) {
	t.Parallel()
	more := true
	tests := &series{next: func(*sandbox.TestResult) (sandbox.Test, bool) { return sandbox.Test{ID: "next"}, more }}
	tests.begin(sandbox.Program{}, sandbox.Prepared{Limits: sandbox.DefaultLimits()}, sandbox.DefaultMaxima())

	first := &sandbox.NetworkUse{Connections: connections(0, 60), Refused: 2, Sent: 10, Received: 1000}
	tests.count(first)
	tests.pending, tests.running = &testCase{id: "destroyer"}, true
	result := sandbox.Result{Outcome: sandbox.OutcomeOutOfMemory, Network: first}
	require.False(t, tests.conclude(&result), "the next test needs a container")

	tests.begin(sandbox.Program{}, sandbox.Prepared{Limits: sandbox.DefaultLimits()}, sandbox.DefaultMaxima())
	tests.count(&sandbox.NetworkUse{Connections: connections(60, 50), More: 7, Refused: 3, Sent: 5, Received: 500})
	tests.count(nil) // a container of which nothing is known
	tests.running, tests.over = false, true
	result = sandbox.Result{Outcome: sandbox.OutcomeOK}
	require.True(t, tests.conclude(&result))
	require.Equal(t, &sandbox.NetworkUse{Connections: connections(0, 100), More: 17, Refused: 5, Sent: 15, Received: 1500}, result.Network)
	require.Len(t, first.Connections, 60, "a container's own is not changed")
}

func TestASeriesThatIsCutShortTellsItsNetworkUseToo(t *testing.T) {
	t.Parallel()
	tests := &series{}
	tests.count(&sandbox.NetworkUse{Sent: 1})
	tests.count(&sandbox.NetworkUse{Sent: 2})
	result := sandbox.Result{Outcome: sandbox.OutcomeCanceled, Network: &sandbox.NetworkUse{Sent: 2}}
	require.True(t, tests.conclude(&result))
	require.Equal(t, &sandbox.NetworkUse{Sent: 3}, result.Network)
}

func TestASeriesWithoutANetworkTellsNone(t *testing.T) {
	t.Parallel()
	tests := &series{over: true}
	tests.count(nil)
	var result sandbox.Result
	require.True(t, tests.conclude(&result))
	require.Nil(t, result.Network)
	var none *series // a single run
	none.count(&sandbox.NetworkUse{Sent: 1})
}
