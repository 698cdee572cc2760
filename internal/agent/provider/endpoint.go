package provider

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultSilence is how long a provider may send nothing, if nobody says otherwise. Models that think long, and local
// ones that are loaded first, are silent for minutes.
const DefaultSilence = 5 * time.Minute

// Endpoint is where the requests of an adapter go.
type Endpoint struct {
	// Name is the adapter's, for messages.
	Name string
	// Key is what the provider knows its customer by, empty for one that asks for none.
	Key string
	// BaseURL is the address before the path that the adapter adds.
	BaseURL string
	// Client follows no redirect, ends an answer that is silent too long, and one that has no end.
	Client *http.Client
	// Hint is added to an answer that nothing is found at the address.
	Hint string
}

// NewEndpoint checks an address and a key. client is copied and may be nil; silence is [DefaultSilence] if 0.
func NewEndpoint(name, key, baseURL string, client *http.Client, silence time.Duration) (*Endpoint, error) {
	key = strings.TrimSpace(key)
	// What would be escaped in a message could not be taken out of it.
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }) {
		return nil, fmt.Errorf("%s: the API key has characters that no key has, such as spaces or quotes", name)
	}
	if err := checkURL(baseURL); err != nil {
		return nil, fmt.Errorf("%s: base URL %w", name, err)
	}
	if silence == 0 {
		silence = DefaultSilence
	}
	return &Endpoint{Name: name, Key: key, BaseURL: baseURL, Client: guardedClient(client, silence)}, nil
}

// checkURL says what is wrong without the URL itself, which may hold a password.
func checkURL(text string) error {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is not a URL; one looks like http://127.0.0.1:11434/v1")
	case parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Host == "":
		return errors.New("does not begin with http:// or https:// and a host")
	case parsed.User != nil:
		return errors.New("has a user name or password; give the key apart from it")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return errors.New("has a query or a fragment, which would be lost")
	}
	return nil
}

func guardedClient(base *http.Client, silence time.Duration) *http.Client {
	if base == nil {
		base = &http.Client{}
	}
	client := *base
	// Headers with a key are sent on to wherever a redirect points.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Transport = &guard{next: next, silence: silence, limit: maxAnswer}
	return &client
}
