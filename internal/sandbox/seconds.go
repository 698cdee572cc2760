package sandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Seconds is a duration that JSON carries as a number of seconds, such as 2.5.
type Seconds time.Duration

// Duration returns s as a time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

// String formats s as time.Duration does, such as "2.5s".
func (s Seconds) String() string { return time.Duration(s).String() }

// MarshalJSON writes seconds with a resolution of one microsecond.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, math.Round(time.Duration(s).Seconds()*1e6)/1e6, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of seconds. It refuses NaN, infinities and what
// does not fit a time.Duration (about 292 years).
func (s *Seconds) UnmarshalJSON(data []byte) error {
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil {
		return fmt.Errorf("want a number of seconds: %w", err)
	}
	nanos := seconds * float64(time.Second)
	if math.IsNaN(nanos) || math.Abs(nanos) >= math.MaxInt64 {
		return fmt.Errorf("%s seconds is out of range", data)
	}
	*s = Seconds(math.Round(nanos))
	return nil
}
