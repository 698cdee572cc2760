package provider

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheWaitThatAnAnswerAsksFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		seconds, milliseconds string
		want                  time.Duration
	}{
		"none":                       {"", "", 0},
		"seconds":                    {"7", "", 7 * time.Second},
		"a part of a second":         {"0.25", "", 250 * time.Millisecond},
		"milliseconds":               {"", "1500", 1500 * time.Millisecond},
		"milliseconds are finer":     {"2", "1500", 1500 * time.Millisecond},
		"a date":                     {"Sun, 01 Mar 2026 12:01:30 GMT", "", 90 * time.Second},
		"a date that is over":        {"Sun, 01 Mar 2026 11:00:00 GMT", "", 0},
		"a date in years":            {"Sun, 01 Mar 2099 11:00:00 GMT", "", 24 * time.Hour},
		"a negative number":          {"-3", "", 0},
		"not a number":               {"NaN", "soon", 0},
		"infinity":                   {"+Inf", "", 24 * time.Hour},
		"more than a number can say": {"1e300", "", 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			header.Set("Retry-After", test.seconds)
			header.Set("Retry-After-Ms", test.milliseconds)
			require.Equal(t, test.want, retryAfter(header, now))
		})
	}
}
