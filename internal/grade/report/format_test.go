package report

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestFiguresReadWell(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 s":                duration(0),
		"0.004 ms":           duration(sandbox.Seconds(4 * time.Microsecond)),
		"1.50 ms":            duration(sandbox.Seconds(1500 * time.Microsecond)),
		"27.3 ms":            duration(sandbox.Seconds(27342 * time.Microsecond)),
		"1000 ms":            duration(sandbox.Seconds(999_900 * time.Microsecond)),
		"2.00 s":             duration(sandbox.Seconds(2 * time.Second)),
		"119 s":              duration(sandbox.Seconds(119 * time.Second)),
		"2 min 5 s":          duration(sandbox.Seconds(125 * time.Second)),
		"26 h 3 min":         duration(sandbox.Seconds(26*time.Hour + 3*time.Minute)),
		"2,562,047 h 47 min": duration(sandbox.Seconds(math.MaxInt64)),
		"":                   memory(0),
		"1023 B":             memory(1023),
		"1 KiB":              memory(1024),
		"12.5 MiB":           memory(25 << 19),
		"1000 MiB":           memory(1000 << 20),
		"0":                  thousands(0),
		"999":                thousands(999),
		"1,000":              thousands(1000),
		"1,234,567":          thousands(1234567),
		"-1,234":             thousands(-1234),
		"0.0 %":              percent(0, 7),
		"<0.1 %":             percent(1, 100_000),
		"33.3 %":             percent(1, 3),
		">99.9 %":            percent(99_999, 100_000),
		"100.0 %":            percent(7, 7),
		"76.3889":            scoreText(76.388888),
		"-2.5":               scoreText(-2.5),
		"76.39":              meanText(76.3889),
	} {
		require.Equal(t, want, got)
	}
	require.Empty(t, percent(0, 0))
}

func TestPeriodNamesADayOnce(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 11, 30, 23, 50, 0, 0, time.FixedZone("", 3600))
	require.Empty(t, period(time.Time{}, time.Time{}))
	require.Equal(t, "30 November 2026, 22:50 UTC", period(first, first.Add(9*time.Second)))
	require.Equal(t, "30 November 2026, 22:50 to 23:20 UTC", period(first, first.Add(30*time.Minute)))
	require.Equal(t, "30 November 2026, 22:50 to 1 December 2026, 00:50 UTC", period(first, first.Add(2*time.Hour)))
}

func TestLongTextLosesItsMiddle(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", shorten("short", 5))
	require.Equal(t, "he […] rt", shorten("heart heart", 4))
	require.Equal(t, "é […] é", shorten("ééééé", 6), "a character that does not fit is left out")
	for keep := range 40 {
		text := shorten(strings.Repeat("aé€😀", 20), keep)
		require.True(t, utf8.ValidString(text))
		require.NotContains(t, text, "\ufffd", "cut at %d", keep)
	}
	require.Equal(t, strings.Repeat("\ufffd", 6)+" […] "+strings.Repeat("\ufffd", 6), shorten(strings.Repeat("\xbf", 100), 20), "no text at all")
}

func TestTimesAddUpWithoutWrappingAround(t *testing.T) {
	t.Parallel()
	require.Equal(t, sandbox.Seconds(5), plus(2, 3))
	require.Equal(t, sandbox.Seconds(math.MaxInt64), plus(math.MaxInt64-1, 2))
	require.Equal(t, sandbox.Seconds(2), plus(2, -3), "a time below 0 is none")
}
