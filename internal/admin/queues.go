package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/hibiken/asynqmon"
	"github.com/redis/go-redis/v9"
)

// QueuesPath is where asynq's own pages are.
const QueuesPath = "/queues/"

// Queues serves asynq's own pages, on which nothing can be changed and no payload is shown. The client remains the caller's.
func Queues(rdb redis.UniversalClient) http.Handler {
	hidden := func(string, []byte) string { return "not shown" }
	pages := asynqmon.New(asynqmon.Options{
		RootPath: strings.TrimSuffix(QueuesPath, "/"), RedisConnOpt: shared{rdb}, ReadOnly: true,
		PayloadFormatter: asynqmon.PayloadFormatterFunc(hidden), ResultFormatter: asynqmon.ResultFormatterFunc(hidden),
	})
	policy := ownContent(pages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		pages.ServeHTTP(w, r)
	})
}

// shared is the worker's own client, which asynqmon uses and never closes.
type shared struct{ redis.UniversalClient }

// MakeRedisClient returns it.
func (s shared) MakeRedisClient() any { return s.UniversalClient }

var _ asynq.RedisConnOpt = shared{}

// paper takes a page instead of a browser.
type paper struct {
	strings.Builder
	header http.Header
}

// Header is thrown away.
func (p *paper) Header() http.Header { return p.header }

// WriteHeader does nothing.
func (p *paper) WriteHeader(int) {}

var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// ownContent is a policy under which asynq's pages load nothing from other hosts, as they would their fonts, and run no
// scripts but their own.
func ownContent(pages http.Handler) string {
	index := &paper{header: http.Header{}}
	pages.ServeHTTP(index, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: QueuesPath}})
	scripts := "'self'"
	for _, script := range inlineScript.FindAllStringSubmatch(index.String(), -1) {
		scripts += " " + allowed(script[1])
	}
	return fmt.Sprintf("%s; script-src %s; style-src 'self' 'unsafe-inline'; img-src 'self' data:; manifest-src 'self'; connect-src 'self'", noContent, scripts)
}
