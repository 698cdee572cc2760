package script

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sandloop/sandloop/internal/agent"
)

// Script is a list of turns that a Model says one after the other.
type Script struct {
	// Task is what the script is an answer to, for who runs it without another.
	Task  string `yaml:"task"`
	Turns []Turn `yaml:"turns"`
}

// Turn is one turn of the model.
type Turn struct {
	// Expect are texts that the results of the turn before must contain, each in any of them.
	Expect []string `yaml:"expect"`
	// Fail are failures of the provider, each for one try, before the turn is said.
	Fail []Failure `yaml:"fail"`
	// Say is the text, which comes word by word.
	Say string `yaml:"say"`
	// Calls are the tools that are called, side by side.
	Calls []Call `yaml:"calls"`

	line int
}

// Failure is one of a provider.
type Failure struct {
	// Kind is that of agent.ProviderError.
	Kind agent.ProviderErrorKind `yaml:"kind"`
	// RetryAfter is what the provider asks for.
	RetryAfter time.Duration `yaml:"retry_after"`
}

// Call is that of a tool.
type Call struct {
	Tool      string         `yaml:"tool"`
	Arguments map[string]any `yaml:"arguments"`
}

// Load reads a script from a YAML file. The error names the file, the line and the field, and what is allowed.
func Load(path string) (*Script, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", path, err)
	}
	return s, nil
}

// Parse reads a script from YAML. The error is that of Load without the file.
func Parse(data []byte) (*Script, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	decoder.KnownFields(true)
	var s Script
	if err := decoder.Decode(&s); err != nil {
		return nil, plain(err)
	}
	lines, err := turnLines(data)
	if err != nil {
		return nil, plain(err)
	}
	var errs []error
	if len(s.Turns) == 0 {
		errs = append(errs, errors.New("turns: there are none: want at least one"))
	}
	for i := range s.Turns {
		s.Turns[i].line = lines[i]
		errs = append(errs, s.Turns[i].validate(i)...)
	}
	return &s, errors.Join(errs...)
}

// turnLines are the lines in which the turns begin.
func turnLines(data []byte) ([]int, error) {
	var nodes struct {
		Turns []yaml.Node `yaml:"turns"`
	}
	err := yaml.Unmarshal(data, &nodes)
	lines := make([]int, len(nodes.Turns))
	for i, node := range nodes.Turns {
		lines[i] = node.Line
	}
	return lines, err
}

func (t Turn) validate(i int) (errs []error) {
	wrong := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("line %d: turns[%d]%s: %s", t.line, i, field, fmt.Sprintf(format, args...)))
	}
	if t.Say == "" && len(t.Calls) == 0 {
		wrong("", "says nothing and calls no tool: want say or calls")
	}
	for j, call := range t.Calls {
		if call.Tool == "" {
			wrong(fmt.Sprintf(".calls[%d].tool", j), "is empty: want the name of a tool")
		}
	}
	for j, failure := range t.Fail {
		switch failure.Kind {
		case agent.RateLimited, agent.Overloaded, agent.Unreachable, agent.CutStream, agent.BadKey, agent.BadRequest:
		default:
			wrong(fmt.Sprintf(".fail[%d].kind", j), "%q is not known: want %q, %q, %q, %q, %q or %q", failure.Kind,
				agent.RateLimited, agent.Overloaded, agent.Unreachable, agent.CutStream, agent.BadKey, agent.BadRequest)
		}
		if failure.RetryAfter < 0 {
			wrong(fmt.Sprintf(".fail[%d].retry_after", j), "%s is negative: want 0 or more", failure.RetryAfter)
		}
	}
	return errs
}

var goType = regexp.MustCompile(`field (\S+) not found in type script\.(\w+)`)

// plain says in terms of the file what the decoder says in those of Go.
func plain(err error) error {
	var typed *yaml.TypeError
	if !errors.As(err, &typed) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	allowed := map[string]string{
		"Script": "task, turns", "Turn": "expect, fail, say, calls", "Failure": "kind, retry_after", "Call": "tool, arguments",
	}
	var errs []error
	for _, line := range typed.Errors {
		if found := goType.FindStringSubmatch(line); found != nil {
			line = strings.Replace(line, found[0], fmt.Sprintf("field %q is not known: want %s", found[1], allowed[found[2]]), 1)
		}
		errs = append(errs, errors.New(line))
	}
	return errors.Join(errs...)
}
