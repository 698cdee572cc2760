package provider

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysAndAddressesThatCannotBe(t *testing.T) {
	t.Parallel()
	for key, fine := range map[string]bool{
		"": true, "sk-1": true, " sk-1\r\n": true, "sk 1": false, "sk-\x00": false, "schlüssel": false, `sk"1`: false, `sk\1`: false, "sk<1": false,
	} {
		endpoint, err := NewEndpoint("test", key, "http://127.0.0.1", nil, 0)
		if !fine {
			require.EqualError(t, err, "test: the API key has characters that no key has, such as spaces or quotes")
			continue
		}
		require.NoError(t, err)
		require.NotContains(t, endpoint.Key, " ")
	}
	for address, want := range map[string]string{
		"https://host": "", "http://127.0.0.1:11434/v1": "", "http://[::1]:1/v1/": "",
		"host/v1":              "does not begin with http:// or https:// and a host",
		"ftp://host":           "does not begin with http:// or https:// and a host",
		"http:///v1":           "does not begin with http:// or https:// and a host",
		"http://host:port":     "is not a URL; one looks like http://127.0.0.1:11434/v1",
		"https://me@host":      "has a user name or password; give the key apart from it",
		"https://host?key=abc": "has a query or a fragment, which would be lost",
		"https://host/#abc":    "has a query or a fragment, which would be lost",
	} {
		_, err := NewEndpoint("test", "", address, nil, 0)
		if want == "" {
			require.NoError(t, err, address)
			continue
		}
		require.EqualError(t, err, "test: base URL "+want, address)
	}
}
