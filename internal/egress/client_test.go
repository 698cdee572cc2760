package egress

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// answering is a connection whose server has the whole request, and has answered, before the write of it returns.
type answering struct {
	net.Conn
	answered func()
	takes    int
}

func (a *answering) Write([]byte) (int, error) {
	a.answered()
	if a.takes < len("hello") {
		return a.takes, errors.New("it broke")
	}
	return a.takes, nil
}

func TestWhatWasSentIsCountedWhenItIsAnswered(t *testing.T) {
	t.Parallel()
	for takes, want := range map[int]int64{5: 5, 2: 2, 0: 0} {
		m := &metered{client: newClient(Job{}, Rule{MaxBytes: 100})}
		m.Conn = &answering{takes: takes, answered: func() {
			require.EqualValues(t, 5, m.connection(target{}, nil).Sent)
		}}
		n, err := m.Write([]byte("hello"))
		require.Equal(t, takes, n)
		require.Equal(t, takes < 5, err != nil)
		require.Equal(t, want, m.connection(target{}, nil).Sent, "what the server did not take does not count")
	}
}
