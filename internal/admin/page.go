package admin

import (
	"bytes"
	"context"
	_ "embed" // the page
	"html/template"
	"net/http"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// Overview is what the page shows.
type Overview struct {
	jobs.Stats
	// Worker is the id of the worker that serves the page.
	Worker string
	// Tenants are those with the most jobs that wait.
	Tenants []Tenant
	// Dead are the newest dead letters.
	Dead []jobs.DeadLetter
}

// Tenant is what a tenant has in a queue.
type Tenant struct {
	Queue jobs.Queue
	jobs.TenantStats
}

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"ago": ago, "seconds": seconds, "style": func() template.CSS {
		return template.CSS(pageStyle) //nolint:gosec // it is ours
	}}).Parse(pageText))
	pagePolicy = noContent + "; style-src " + allowed(pageStyle)
)

// ago is the time since a moment, for people.
func ago(at time.Time) time.Duration { return max(0, time.Since(at)).Round(time.Second) }

// seconds is a number of them, for people.
func seconds(number float64) time.Duration {
	return time.Duration(number * float64(time.Second)).Round(time.Second)
}

// page shows queues, workers, tenants and dead letters. It has no script and loads itself again.
func page(overview func(context.Context) (Overview, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var view struct {
			Overview
			Now     time.Time
			Problem error
		}
		view.Overview, view.Problem = overview(r.Context())
		view.Now = time.Now().UTC()
		var text bytes.Buffer
		if err := pageTemplate.Execute(&text, view); err != nil {
			http.Error(w, "the page cannot be made", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", pagePolicy)
		if view.Problem != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(text.Bytes()) // the client went away
	})
}
