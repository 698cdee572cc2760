package testenv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ask sends one command to a Redis server and returns its reply: a string, or a number as it is
// written. The arguments must hold no spaces.
func ask(addr string, command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(conn, strings.Join(command, " ")+"\r\n"); err != nil {
		return "", err
	}
	return readReply(bufio.NewReader(conn))
}

func readReply(from *bufio.Reader) (string, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("redis sent an empty line")
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", errors.New(rest)
	case '$':
		length, err := strconv.Atoi(rest)
		if err != nil || length < 0 {
			return "", fmt.Errorf("redis sent a string of the length %q", rest)
		}
		text := make([]byte, length)
		_, err = io.ReadFull(from, text)
		return string(text), err
	}
	return "", fmt.Errorf("redis sent %.80q, which is no string and no number", line)
}

// waitFor asks until holds says that all is well, for a minute as it is on a usual machine.
func waitFor(t testing.TB, what string, holds func() error) {
	t.Helper()
	deadline := time.Now().Add(Scale(t, time.Minute))
	for {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}
