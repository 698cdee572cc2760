package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/docker/go-units"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// duration formats a time for people, with three digits that count.
func duration(s sandbox.Seconds) string {
	switch value := s.Duration(); {
	case value <= 0:
		return "0 s"
	case value < time.Millisecond:
		return strconv.FormatFloat(value.Seconds()*1e3, 'f', 3, 64) + " ms"
	case value < time.Second:
		return threeDigits(value.Seconds()*1e3) + " ms"
	case value < 2*time.Minute:
		return threeDigits(value.Seconds()) + " s"
	case value < 2*time.Hour:
		value = value.Round(time.Second)
		return fmt.Sprintf("%d min %d s", value/time.Minute, value%time.Minute/time.Second)
	default:
		value = value.Round(time.Minute)
		return fmt.Sprintf("%s h %d min", thousands(int(value/time.Hour)), value%time.Hour/time.Minute)
	}
}

// threeDigits keeps as many decimals as make three digits, and all digits before the point.
func threeDigits(value float64) string {
	decimals := 0
	for limit := 100.0; value < limit && decimals < 2; limit /= 10 {
		decimals++
	}
	return strconv.FormatFloat(value, 'f', decimals, 64)
}

// memory formats bytes for people, and nothing for what was not measured.
func memory(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return units.CustomSize("%.4g %s", float64(bytes), 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"})
}

// thousands formats a count with commas.
func thousands(count int) string {
	text := strconv.Itoa(count)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// countedItems is a count with its noun.
func countedItems(count int) string {
	if count == 1 {
		return "1 item"
	}
	return thousands(count) + " items"
}

// percent formats a share so that it is 0 or 100 only when it is exactly that.
func percent(part, of int) string {
	if of == 0 {
		return ""
	}
	tenths := math.Round(1000 * float64(part) / float64(of))
	switch {
	case tenths == 0 && part > 0:
		return "<0.1 %"
	case tenths == 1000 && part < of:
		return ">99.9 %"
	}
	return strconv.FormatFloat(tenths/10, 'f', 1, 64) + " %"
}

// meanText formats a mean of scores with two decimals.
func meanText(mean float64) string { return strconv.FormatFloat(mean, 'f', 2, 64) }

// scoreText formats a score with up to four decimals.
func scoreText(score float64) string {
	return strconv.FormatFloat(math.Round(score*1e4)/1e4, 'f', -1, 64)
}

func scoreOf(score *float64) string {
	if score == nil {
		return ""
	}
	return scoreText(*score)
}

// verdictName is what the letters of a verdict stand for.
func verdictName(v grade.Verdict) string {
	switch v {
	case grade.AC:
		return "accepted"
	case grade.WA:
		return "wrong answer"
	case grade.TLE:
		return "time limit exceeded"
	case grade.MLE:
		return "memory limit exceeded"
	case grade.OLE:
		return "output limit exceeded"
	case grade.RE:
		return "run-time error"
	case grade.CE:
		return "compile error"
	case grade.NotRun:
		return "not judged"
	default:
		return "internal error"
	}
}

// period formats when a batch was judged.
func period(first, last time.Time) string {
	if first.IsZero() {
		return ""
	}
	first, last = first.UTC(), last.UTC()
	const day, clock = "2 January 2006", "15:04"
	switch {
	case first.Format(day+clock) == last.Format(day+clock):
		return first.Format(day+", "+clock) + " UTC"
	case first.Format(day) == last.Format(day):
		return first.Format(day+", "+clock) + " to " + last.Format(clock) + " UTC"
	}
	return first.Format(day+", "+clock) + " to " + last.Format(day+", "+clock) + " UTC"
}
