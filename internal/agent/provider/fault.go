package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/sandloop/sandloop/internal/agent"
)

// Fault is what a provider says about a failure.
type Fault struct {
	// Type and Code are the provider's words for it, such as overloaded_error; either may be empty.
	Type string
	Code string
	// Message is its sentence.
	Message string
	// status is a status of HTTP that stands in the place of a code, 0 if there is none.
	status int
}

// faultBody has the shapes that are about: an object or a string as error, or no error around the fields.
type faultBody struct {
	Error   json.RawMessage `json:"error"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Message string          `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

// ParseFault reads the body of a failed answer, or an event that reports a failure. What is no JSON becomes a message.
func ParseFault(body []byte) Fault {
	var outer faultBody
	if err := json.Unmarshal(body, &outer); err != nil {
		return Fault{Message: plain(body)}
	}
	inner := outer
	if len(outer.Error) > 0 && json.Unmarshal(outer.Error, &inner) != nil {
		inner.Message = text(outer.Error)
	}
	fault := Fault{Type: inner.Type, Code: text(inner.Code), Message: inner.Message}
	if fault.Message == "" && len(inner.Detail) > 0 {
		fault.Message = text(inner.Detail)
	}
	if fault.Message == "" {
		fault.Message = plain(body)
	}
	if status, err := strconv.Atoi(fault.Code); err == nil && status >= 400 && status < 600 {
		fault.status = status
	}
	return fault
}

// text is a JSON string's value, or the JSON itself; null is empty.
func text(raw json.RawMessage) string {
	var value string
	if json.Unmarshal(raw, &value) == nil {
		return value
	}
	return string(raw)
}

var pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// plain is a body that is not JSON in a few words: of a web page, only the title.
func plain(body []byte) string {
	body = bytes.TrimSpace(body)
	if !bytes.HasPrefix(body, []byte("<")) {
		return string(body)
	}
	if title := pageTitle.FindSubmatch(body); title != nil {
		return `a web page with the title "` + string(bytes.TrimSpace(title[1])) + `"`
	}
	return "a web page"
}

// maxMessage is the length of a message in an error, in characters.
const maxMessage = 400

// short brings a message onto one line of bounded length.
func short(message string) string {
	message = strings.Join(strings.Fields(strings.ToValidUTF8(message, "?")), " ")
	if runes := []rune(message); len(runes) > maxMessage {
		return string(runes[:maxMessage]) + "..."
	}
	return message
}

// words are what the providers call the failures that a status does not tell, or that come without one.
var words = map[string]agent.ProviderErrorKind{
	"overloaded_error": agent.Overloaded, "service_unavailable_error": agent.Overloaded, "engine_overloaded": agent.Overloaded,
	"rate_limit_error": agent.RateLimited, "rate_limit_exceeded": agent.RateLimited,
	"api_error": agent.Unreachable, "server_error": agent.Unreachable, "timeout_error": agent.Unreachable,
	"authentication_error": agent.BadKey, "permission_error": agent.BadKey, "invalid_api_key": agent.BadKey,
	"invalid_request_error": agent.BadRequest, "not_found_error": agent.BadRequest, "request_too_large": agent.BadRequest,
	"billing_error": agent.BadRequest, "context_length_exceeded": agent.BadRequest,
	"insufficient_quota": agent.BadRequest,
}

// kind is what a fault means; status is 0 for one that came without.
func (f Fault) kind(status int) (kind agent.ProviderErrorKind, known bool) {
	switch {
	case f.Code == "insufficient_quota" || f.Type == "insufficient_quota":
		// It has the status of a rate limit, and waiting does not help.
		return agent.BadRequest, true
	case f.Type == "overloaded_error":
		return agent.Overloaded, true
	case status != 0:
		return statusKind(status), true
	}
	if kind, known = words[f.Code]; !known {
		kind, known = words[f.Type]
	}
	return kind, known
}

// statusOverloaded is what Anthropic answers when it has too much to do.
const statusOverloaded = 529

func statusKind(status int) agent.ProviderErrorKind {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return agent.BadKey
	case status == http.StatusTooManyRequests:
		return agent.RateLimited
	case status == http.StatusServiceUnavailable || status == statusOverloaded:
		return agent.Overloaded
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status >= 500:
		return agent.Unreachable
	default:
		return agent.BadRequest
	}
}
