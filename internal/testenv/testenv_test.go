package testenv_test

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRedisServerIsEmptyAndGoneAfterTheTest(t *testing.T) {
	t.Parallel()
	var addr string
	t.Run("while the test runs", func(t *testing.T) {
		addr = testenv.RedisServer(t)
		conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", addr)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		_, err = io.WriteString(conn, "DBSIZE\r\n")
		require.NoError(t, err)
		answer, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, ":0\r\n", answer)
	})
	require.NotEmpty(t, addr)
	_, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", addr)
	require.Error(t, err)
}

func TestTwoRedisServersHaveTwoPorts(t *testing.T) {
	t.Parallel()
	first, second := testenv.RedisServer(t), testenv.RedisServer(t)
	require.NotEqual(t, first, second)
}
