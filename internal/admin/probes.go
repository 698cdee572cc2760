package admin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
)

// Check is one thing that a worker needs to take jobs.
type Check struct {
	Name string
	// Look returns soon after its context has ended. What its error says is for the log, unless it is a [Reason].
	Look func(context.Context) error
}

// Reason is an error that anybody may read.
type Reason string

// Error is the reason itself.
func (r Reason) Error() string { return string(r) }

// noAnswer is what anybody may read of any other error, which may have addresses in it.
const noAnswer = Reason("does not answer as it should; the worker's log says more")

// health is what a probe answers.
type health struct {
	OK     bool             `json:"ok"`
	Checks map[string]check `json:"checks"`
}

type check struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// finding is what the checks found.
type finding map[string]error

// livez tells whether the process is alive. It asks neither Redis nor Docker: a worker that waits for them must not be
// killed for it.
func livez(live func() error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		err := live()
		if err != nil {
			err = Reason(err.Error())
		}
		answer(w, finding{"loops": err})
	})
}

// readyz tells whether the worker takes jobs and can run them.
func readyz(checks []Check, log *slog.Logger) http.Handler {
	recent := NewRecent(func(ctx context.Context) (finding, error) { return look(ctx, checks), nil })
	said := &teller{log: log}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, _ := recent.Get(r.Context()) // the errors are in what it found
		said.tell(r.Context(), found)
		answer(w, found)
	})
}

// look does all checks at once.
func look(ctx context.Context, checks []Check) finding {
	errs := make([]error, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() { errs[i] = c.Look(ctx) })
	}
	all.Wait()
	found := finding{}
	for i, c := range checks {
		found[c.Name] = errs[i]
	}
	return found
}

func answer(w http.ResponseWriter, found finding) {
	h := health{OK: true, Checks: map[string]check{}}
	for name, err := range found {
		result := check{OK: err == nil}
		var reason Reason
		switch {
		case err == nil:
		case errors.As(err, &reason):
			result.Error = string(reason)
		default:
			result.Error = string(noAnswer)
		}
		h.OK = h.OK && result.OK
		h.Checks[name] = result
	}
	w.Header().Set("Content-Type", "application/json")
	if !h.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(h) // the client went away
}

// teller logs what changed from one finding to the next.
type teller struct {
	log *slog.Logger

	mu  sync.Mutex
	was map[string]bool // failed
}

func (t *teller) tell(ctx context.Context, found finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.was == nil {
		t.was = map[string]bool{}
	}
	for name, err := range found {
		switch {
		case err != nil && !t.was[name]:
			t.log.Log(ctx, level(err), "worker is not ready", "check", name, "error", err)
		case err == nil && t.was[name]:
			t.log.InfoContext(ctx, "worker is ready again", "check", name)
		}
		t.was[name] = err != nil
	}
}

// level is that of what went wrong; that a worker starts or stops is no trouble.
func level(err error) slog.Level {
	if reason := Reason(""); errors.As(err, &reason) {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}
