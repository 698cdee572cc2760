package config

import (
	"net/url"
	"strings"
)

// validate refuses an endpoint that is none, or that may hold a secret: it is logged.
func (t Tracing) validate(p *problems) {
	within(p, "tracing.sample", t.Sample, 0, 1)
	if t.Endpoint == "" {
		return
	}
	const want = "http://host:port or https://host:port, with a path or without"
	u, err := url.Parse(t.Endpoint)
	switch {
	case strings.ContainsAny(t.Endpoint, "@?#"):
		p.add("tracing.endpoint", "one with a user, a query or a fragment", want+"; tracing.headers_file is for secrets")
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		p.add("tracing.endpoint", t.Endpoint, want)
	}
}
