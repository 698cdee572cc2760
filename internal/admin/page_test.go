package admin

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
)

func (s *site) page(t *testing.T) reply {
	t.Helper()
	return s.get(t, "/", password("admin", secret))
}

var (
	tag    = regexp.MustCompile(`<[^>]*>`)
	spaces = regexp.MustCompile(`\s+`)
)

// words is the text of a page, with a bar between two cells.
func words(body string) string {
	_, body, _ = strings.Cut(body, "<body>")
	body = strings.NewReplacer("</td><td", " | <td", "</th><th", " | <th").Replace(body)
	return strings.TrimSpace(spaces.ReplaceAllString(tag.ReplaceAllString(body, " "), " "))
}

func TestThePageShowsQueuesWorkersTenantsAndDeadLetters(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) {
		o.Overview = func(context.Context) (Overview, error) {
			return Overview{
				Worker: "host-1-abc",
				Stats: jobs.Stats{
					Queues:  []jobs.QueueStats{{Queue: jobs.Batch, Pending: 1234, Running: 5, Retry: 6, Dead: 7, OldestSeconds: 61.4, Bytes: 8, Tenants: 9}},
					Workers: []jobs.WorkerInfo{{ID: "host-1-abc", Host: "host", Slots: 8, InteractiveSlots: 2, SessionSlots: 4, Running: 3, Started: time.Now().Add(-time.Hour)}},
				},
				Tenants: []Tenant{{jobs.Batch, jobs.TenantStats{Tenant: "alice", Weight: 2, Waiting: 1200, Bytes: 99, OldestSeconds: 3}}},
				Dead:    []jobs.DeadLetter{{Queue: jobs.Batch, ID: "job-1", Tenant: "bob", DiedAt: time.Now().Add(-90 * time.Minute), Error: "no daemon"}},
			}, nil
		}
	})
	got := s.page(t)
	require.Equal(t, 200, got.code)
	require.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"))
	text := words(got.body)
	for _, want := range []string{
		"queue | waiting | running | retry | dead | oldest | bytes | tenants batch | 1234 | 5 | 6 | 7 | 1m1s | 8 | 9",
		"host-1-abc | host | 3 | 8 | 2 | 4 | 1h0m",
		"batch | alice | 2 | 1200 | 3s | 99",
		"batch | job-1 | bob | 1h30m", "s ago | no daemon",
		"told by host-1-abc",
	} {
		require.Contains(t, text, want)
	}
	require.Contains(t, got.body, `<meta http-equiv="refresh" content="5">`)
}

func TestNamesOnThePageAreText(t *testing.T) {
	t.Parallel()
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	s := start(t, func(o *Options) {
		o.Overview = func(context.Context) (Overview, error) {
			return Overview{
				Worker: evil, Tenants: []Tenant{{evil, jobs.TenantStats{Tenant: evil}}},
				Stats: jobs.Stats{Queues: []jobs.QueueStats{{Queue: evil}}, Workers: []jobs.WorkerInfo{{ID: evil, Host: evil}}},
				Dead:  []jobs.DeadLetter{{Queue: evil, ID: evil, Tenant: evil, Error: evil}},
			}, nil
		}
	})
	body := s.page(t).body
	require.NotContains(t, body, "<script")
	require.NotContains(t, body, "<img")
	require.Equal(t, 10, strings.Count(body, "&lt;script&gt;"))
}

// A browser applies a style only if the policy has the hash of exactly what stands between the tags.
func TestThePolicyOfThePageAllowsItsStyleAndNothingElse(t *testing.T) {
	t.Parallel()
	got := start(t).page(t)
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(got.body)
	require.Len(t, style, 2)
	require.Contains(t, style[1], "font-variant-numeric")
	policy := got.header.Get("Content-Security-Policy")
	require.Equal(t, "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src "+allowed(style[1]), policy)
	// sha256sum of nothing, in base64, as any other program makes it.
	require.Equal(t, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='", allowed(""))
	require.NotContains(t, got.body, " style=")
}

func TestThePageSaysWhenRedisIsAway(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) {
		o.Overview = func(context.Context) (Overview, error) {
			return Overview{Worker: "w"}, errors.New("connection refused")
		}
	})
	got := s.page(t)
	require.Equal(t, 503, got.code)
	require.Contains(t, words(got.body), "Redis does not answer: connection refused")
	require.NotContains(t, got.body, "<table>")
}
