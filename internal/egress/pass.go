package egress

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

func timeoutError(rule Rule) error {
	return fmt.Errorf("the connection was cut after %s (%s.timeout)", rule.Timeout, rule.Name)
}

// passwordIn reads the password in the value of a Proxy-Authorization header, with whatever user; "" if there is none.
func passwordIn(value string) string {
	scheme, encoded, _ := strings.Cut(value, " ")
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil || !strings.EqualFold(scheme, "basic") {
		return ""
	}
	_, password, _ := strings.Cut(string(decoded), ":")
	return password
}

// answer says why a request is not served: in the body, and where nothing of the request can be left unread in the status line too, which is all
// that most programs show of it.
func answer(w http.ResponseWriter, r *http.Request, status int, reason error) {
	text := "sandloop: " + printable(reason.Error())
	body := text + "\n"
	if r.Method != http.MethodConnect && (r.Method != http.MethodGet || r.ContentLength != 0) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) //nolint:gosec // it is plain text, and for the program that asked
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(headerTimeout))
	var more strings.Builder
	for name, values := range w.Header() {
		for _, value := range values {
			fmt.Fprintf(&more, "%s: %s\r\n", name, value)
		}
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
		status, text, len(body), more.String(), body)
}

// printable makes one line of ASCII, since it stands in a status line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return ';'
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, text)
}

// tunnel copies between a program and a server until both have ended, or ctx does.
func tunnel(ctx context.Context, w http.ResponseWriter, server *metered) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Time{}) // ctx bounds it
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(server, early(buffered.Reader, conn))
		server.closeWrite()
	}()
	_, _ = io.Copy(conn, struct{ io.Reader }{server})
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	<-sent
}

// early reads what a program sent right behind its request, and then the connection.
func early(buffered *bufio.Reader, conn net.Conn) io.Reader {
	head := make([]byte, buffered.Buffered())
	_, _ = io.ReadFull(buffered, head) // it is there
	return io.MultiReader(strings.NewReader(string(head)), struct{ io.Reader }{conn})
}

// forward sends a request of plain HTTP over a connection of its own.
func forward(ctx context.Context, w http.ResponseWriter, r *http.Request, t target, server *metered) {
	control := http.NewResponseController(w)
	defer context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		_ = control.SetReadDeadline(past)
		_ = control.SetWriteDeadline(past)
	})()
	transport := &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return server, nil },
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 4 * maxHeader,
	}
	defer transport.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{
		Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL.Host, out.Out.Host = t.String(), t.host
			if t.port != 80 {
				out.Out.Host = t.String()
			}
		},
		Transport: transport, FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			answer(w, r, http.StatusBadGateway, err)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	// Only where it knows of a server does ReverseProxy abort an answer that was cut, which else would look like a whole one.
	served := context.WithValue(ctx, http.ServerContextKey, r.Context().Value(http.ServerContextKey))
	proxy.ServeHTTP(w, r.WithContext(served))
}
