package config

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNothingIsTracedUnlessAskedFor(t *testing.T) {
	load := setup(t)
	c, err := load("")
	require.NoError(t, err)
	require.Equal(t, Tracing{Endpoint: "", Sample: 1}, c.Tracing)

	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://elsewhere:4318")
	c, err = load("")
	require.NoError(t, err)
	require.Empty(t, c.Tracing.Endpoint)

	c, err = load("tracing: {endpoint: 'http://file:4318', sample: 0.25, headers_file: /run/headers}\n", "--trace", "https://flag")
	require.NoError(t, err)
	require.Equal(t, Tracing{Endpoint: "https://flag", Sample: 0.25, HeadersFile: "/run/headers"}, c.Tracing)
}

func TestEndpointsOfTraces(t *testing.T) {
	t.Parallel()
	for endpoint, valid := range map[string]bool{
		"": true, "http://localhost:4318": true, "https://otel.example/v1/traces": true, "http://[::1]:4318/": true,
		"localhost:4318": false, "grpc://localhost:4317": false, "http://": false, "http:///v1/traces": false, "http://:4318": false, "http://h:x": false,
		"https://hunter2@h": false, "https://me:hunter2@h:1": false, "https://h?key=hunter2": false, "https://h#hunter2": false, "hunter2@h:1": false,
	} {
		c := Default()
		c.Tracing.Endpoint = endpoint
		err := c.Validate()
		if valid {
			require.NoError(t, err, endpoint)
			continue
		}
		require.ErrorContains(t, err, "tracing.endpoint", endpoint)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestSharesOfTraces(t *testing.T) {
	t.Parallel()
	for sample, valid := range map[float64]bool{0: true, 0.001: true, 1: true, -0.1: false, 1.1: false, math.Inf(1): false} {
		c := Default()
		c.Tracing.Sample = sample
		require.Equal(t, valid, c.Validate() == nil, sample)
	}
	c := Default()
	c.Tracing.Sample = math.NaN()
	require.EqualError(t, c.Validate(), "tracing.sample: NaN is not allowed: want 0 to 1")
}
