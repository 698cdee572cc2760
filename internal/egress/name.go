package egress

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// maxName is the longest name in bytes that DNS has, without the dot at its end.
const maxName = 253

var (
	// plainName is labels of letters, digits and hyphens within, and underscores, which some hosts have.
	plainName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$`)
	// number is what ends an IPv4 address in any notation that some program reads: 127.0.0.1, 127.1, 2130706433, 0177.0.0.1, 0x7f.1.
	number = regexp.MustCompile(`^([0-9]+|0x[0-9a-f]*)$`)
)

var errAddress = errors.New("is an address: only names can be reached")

// Normalize returns the one form of a name by which rules are compared: lower-case ASCII as in DNS, international ones in Punycode,
// without a dot at the end. The error says what else it is: nothing that is or could be read as an IP address is a name.
func Normalize(host string) (string, error) {
	name := host
	if !isASCII(name) {
		mapped, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return "", fmt.Errorf("%s is not a name: %w", shown(host), err)
		}
		name = mapped
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	switch last := name[strings.LastIndexByte(name, '.')+1:]; {
	case strings.Contains(name, ":") || number.MatchString(last):
		return "", fmt.Errorf("%s %w", shown(host), errAddress)
	case len(name) > maxName || !plainName.MatchString(name):
		return "", fmt.Errorf("%s is not a name", shown(host))
	}
	return name, nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > '~' }) < 0
}

// shown quotes what came from a program for a message: one line, and no longer than a name.
func shown(text string) string {
	if len(text) > maxName {
		text = text[:maxName]
	}
	return fmt.Sprintf("%+q", text)
}

// checkDomain tells whether matches can use a pattern: a name as Normalize gives it, *. before one, or * alone.
func checkDomain(pattern string) error {
	if pattern == "*" {
		return nil
	}
	name := strings.TrimPrefix(pattern, "*.")
	normal, err := Normalize(name)
	if err == nil && normal != name {
		err = fmt.Errorf("%s is written %q", shown(name), normal)
	}
	return err
}

// matches reports whether a normalized name is one that a pattern names: *.example.org is every name below example.org and not
// example.org itself, * is every name.
func matches(pattern, name string) bool {
	if parent, below := strings.CutPrefix(pattern, "*"); below {
		return strings.HasSuffix(name, parent)
	}
	return pattern == name
}
