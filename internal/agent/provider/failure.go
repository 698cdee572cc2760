package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
)

// maxProblem is how much of a failed answer is read for its message, in bytes.
const maxProblem = 64 << 10

// Check tells whether the answer to a request is a stream that can be read. err is what the SDK says; response may be
// nil. It never returns the SDK's error, which has the request with its key in it.
func (e *Endpoint) Check(ctx context.Context, response *http.Response, err error) error {
	switch {
	case ctx.Err() != nil:
		return e.ended(ctx)
	case response == nil:
		return e.unsent(err)
	case response.StatusCode/100 == 3:
		return e.failure(agent.BadRequest, response.StatusCode, "it points elsewhere; the base URL to use may be that of "+response.Header.Get("Location"))
	case response.StatusCode != http.StatusOK:
		return e.refused(response)
	case !streams(response.Header):
		return e.hinted(e.failure(agent.BadRequest, response.StatusCode, "the answer is no stream: "+readFault(response).Message))
	}
	return nil
}

// Cut is the failure of a stream that ended before its end, with err or, if that is nil, without a word.
func (e *Endpoint) Cut(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return e.ended(ctx)
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	failure := e.failure(agent.CutStream, 0, err.Error())
	failure.Err = err
	return failure
}

// Reported is a failure that the provider reports within a stream.
func (e *Endpoint) Reported(fault Fault) error {
	kind, known := fault.kind(fault.status)
	if !known {
		kind = agent.CutStream
	}
	return e.failure(kind, fault.status, fault.Message)
}

// ended is the end of a request whose context ended, which is no failure of the provider.
func (e *Endpoint) ended(ctx context.Context) error {
	return fmt.Errorf("ask %s: %w", e.Name, context.Cause(ctx))
}

// unsent is the failure of a request that has no answer.
func (e *Endpoint) unsent(err error) error {
	var transport *url.Error
	if !errors.As(err, &transport) {
		return e.failure(agent.BadRequest, 0, fmt.Sprint(err))
	}
	failure := e.failure(agent.Unreachable, 0, transport.Err.Error())
	failure.Err = transport.Err
	return failure
}

// refused is the failure of a request with an answer of a status other than 200.
func (e *Endpoint) refused(response *http.Response) error {
	fault := readFault(response)
	kind, _ := fault.kind(response.StatusCode)
	failure := e.failure(kind, response.StatusCode, fault.Message)
	failure.RetryAfter = retryAfter(response.Header, time.Now())
	if response.StatusCode == http.StatusNotFound {
		return e.hinted(failure)
	}
	return failure
}

// hinted adds the hint to a failure that a wrong address can be the reason of.
func (e *Endpoint) hinted(failure *agent.ProviderError) *agent.ProviderError {
	if e.Hint != "" {
		failure.Message += "; " + e.Hint
	}
	return failure
}

// failure is where every message passes, so that the key is taken out before anything could cut it in two.
func (e *Endpoint) failure(kind agent.ProviderErrorKind, status int, message string) *agent.ProviderError {
	if e.Key != "" {
		message = strings.ReplaceAll(message, e.Key, "[key]")
	}
	return &agent.ProviderError{Kind: kind, Status: status, Message: short(message)}
}

// streams tells whether a successful answer can be a stream of events. What says nothing, or something unheard of, is read as one.
func streams(header http.Header) bool {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err != nil || media != "text/html" && media != "application/json"
}

func readFault(response *http.Response) Fault {
	if response.Body == nil {
		return Fault{}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err != nil && len(body) == 0 {
		return Fault{}
	}
	return ParseFault(body)
}
