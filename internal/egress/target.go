package egress

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
)

// target is where a program wants to.
type target struct {
	host string // normalized
	port int
}

func (t target) String() string { return net.JoinHostPort(t.host, strconv.Itoa(t.port)) }

var plainPort = regexp.MustCompile(`^[1-9][0-9]{0,4}$`)

// targetOf reads where a request wants to: CONNECT host:port, or another method with a whole http URL. The error says what
// is not understood, and the target then holds as much as was.
func targetOf(r *http.Request) (target, error) {
	if r.Method == http.MethodConnect {
		host, port, err := net.SplitHostPort(r.RequestURI)
		if err != nil {
			return target{}, fmt.Errorf("CONNECT %s: want host:port", shown(r.RequestURI))
		}
		return newTarget(host, port)
	}
	switch {
	case r.URL.Scheme != "http" || r.URL.Host == "":
		return target{}, fmt.Errorf("%s: want CONNECT, or an absolute URL of http", shown(r.RequestURI))
	case r.URL.User != nil:
		return target{}, errors.New("user and password in a URL are for the server: send them in a header")
	}
	port := r.URL.Port()
	if port == "" {
		port = "80"
	}
	return newTarget(r.URL.Hostname(), port)
}

func newTarget(host, port string) (target, error) {
	name, err := Normalize(host)
	if err != nil {
		return target{}, err
	}
	number, _ := strconv.Atoi(port)
	if !plainPort.MatchString(port) || number > 65535 {
		return target{host: name}, fmt.Errorf("%s is not a port", shown(port))
	}
	return target{name, number}, nil
}
