package spans

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
)

// The example of the W3C's own text.
const example = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestATraceparentComesBackAsItWent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{example, strings.TrimSuffix(example, "01") + "00"} {
		require.NoError(t, CheckTraceparent(text))
		ctx := WithTraceparent(context.Background(), text)
		require.Equal(t, text, Traceparent(ctx))
		sc := trace.SpanContextFromContext(ctx)
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", sc.TraceID().String())
		require.Equal(t, "b7ad6b7169203331", sc.SpanID().String())
		require.True(t, sc.IsRemote())
		require.Equal(t, strings.HasSuffix(text, "01"), sc.IsSampled())
	}
	require.Empty(t, Traceparent(context.Background()))
}

func TestWhatIsNoTraceparentIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":                  "",
		"one letter":               "0",
		"a word":                   "hello",
		"a later version":          "01" + example[2:],
		"the unknown version":      "ff" + example[2:],
		"more at the end":          example + "-00",
		"a line feed":              example + "\n",
		"no trace":                 "00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01",
		"no span":                  "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"capital letters":          strings.ToUpper(example),
		"letters beyond f":         strings.Replace(example, "0af", "0ag", 1),
		"a short trace":            strings.Replace(example, "0af", "0a", 1),
		"a megabyte":               strings.Repeat("0", 1<<20),
		"flags that are not known": strings.TrimSuffix(example, "01") + "ff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, CheckTraceparent(text), "want one of W3C Trace Context")
			require.Less(t, len(CheckTraceparent(text).Error()), 512)
			ctx := WithTraceparent(context.Background(), text)
			require.Equal(t, context.Background(), ctx)
		})
	}
}

func TestASpanBelowNothingIsNoSpan(t *testing.T) {
	t.Parallel()
	ctx, span := Child(context.Background(), "alone")
	require.False(t, span.IsRecording())
	require.Empty(t, Traceparent(ctx))
	inside := WithTraceparent(context.Background(), example)
	require.Empty(t, Traceparent(Without(inside)))
}

func TestTheNameOfALanguageIsCut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "python", Language("python").Value.AsString())
	require.Equal(t, strings.Repeat("x", 32), Language(strings.Repeat("x", 5000)).Value.AsString())
	require.Equal(t, "ab", Language("a\xffb").Value.AsString())
	require.Equal(t, strings.Repeat("€", 10), Language(strings.Repeat("€", 11)).Value.AsString(), "the last one would be cut in the middle")
}

func BenchmarkASpanWhereNothingIsTraced(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, span := Child(context.Background(), "none")
		span.SetAttributes(Result("ok", 0, 1)...)
		span.End()
	}
}
