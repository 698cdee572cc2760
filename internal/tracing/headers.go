package tracing

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// readHeaders reads a file with a header such as "Authorization: Bearer abc" on each line. Empty lines and lines that
// begin with # are nothing. The error names the line and never what is in it.
func readHeaders(file string) (map[string]string, error) {
	content, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("tracing.headers_file: %w", err)
	}
	headers := map[string]string{}
	for number, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || value == "" || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("tracing.headers_file: line %d of %s: want a header, such as Authorization: Bearer abc", number+1, file)
		}
		headers[name] = value
	}
	return headers, nil
}
