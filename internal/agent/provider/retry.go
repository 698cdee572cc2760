package provider

import (
	"net/http"
	"strconv"
	"time"
)

// maxRetryAfter is the longest wait that is passed on; whoever waits has a bound of its own.
const maxRetryAfter = 24 * time.Hour

// retryAfter is the wait that an answer asks for: milliseconds, seconds or a date. It is 0 if the answer asks for none or
// says it in no known way.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := parseWait(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	value := header.Get("Retry-After")
	if wait, ok := parseWait(value, time.Second); ok {
		return wait
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

func parseWait(value string, unit time.Duration) (time.Duration, bool) {
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || !(number >= 0) { // NaN is not
		return 0, false
	}
	if number > float64(maxRetryAfter/unit) {
		return maxRetryAfter, true
	}
	return time.Duration(number * float64(unit)), true
}
