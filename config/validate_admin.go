package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// leastToken is the length below which a token can be guessed.
const leastToken = 16

func (a Admin) validate(p *problems) {
	if a.Addr != "" {
		_, port, err := net.SplitHostPort(a.Addr)
		if number, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || port != strconv.FormatUint(number, 10) {
			p.add("admin.addr", fmt.Sprintf("%q", a.Addr), "host:port, such as 127.0.0.1:9390, or nothing")
		}
	}
	hidden := strings.IndexFunc(a.Token, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0
	if a.Token != "" && (len(a.Token) < leastToken || hidden) {
		p.add("admin.token", fmt.Sprintf("one of %d bytes", len(a.Token)), fmt.Sprintf("at least %d visible ASCII characters", leastToken))
	}
	if a.ProtectMetrics && a.Token == "" {
		p.add("admin.protect_metrics", true, "it only beside admin.token or admin.token_file")
	}
}
