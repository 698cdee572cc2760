package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// programRunner is what runs the programs of a check.
type programRunner interface {
	Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error)
}

// checker looks at images and languages, one after the other.
type checker struct {
	runner programRunner
	limits sandbox.Limits
	host   hostReport
}

// The names of the rows that checkLanguages adds.
func shellOf(image string) string      { return "shell in " + image }
func versionOf(language string) string { return "version of " + language }

// checkLanguages is the table of languages with a row for a shell script in each image and
// one for the version of each language.
func checkLanguages(languages []sandbox.Language) (*sandbox.Languages, error) {
	rows := slices.Clone(languages)
	seen := map[string]bool{}
	for _, language := range languages {
		if len(language.Version) > 0 {
			rows = append(rows, sandbox.Language{
				Name: versionOf(language.Name), Image: language.Image, File: "unused",
				Run: language.Version, Env: language.Env, HeapFraction: language.HeapFraction, Floors: language.Floors,
			})
		}
		if !seen[language.Image] {
			seen[language.Image] = true
			rows = append(rows, sandbox.Language{
				Name: shellOf(language.Image), Image: language.Image, File: "check.sh", Run: []string{"sh", "{file}"},
			})
		}
	}
	return sandbox.NewLanguages(rows)
}

// image looks at the isolation of containers of an image.
func (c *checker) image(ctx context.Context, image string) (imageReport, error) {
	// Nothing inside may reach this, although it listens on the host for as long as the check runs.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return imageReport{}, fmt.Errorf("check image %s: %w", image, err)
	}
	defer func() { _ = listener.Close() }()
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener

	result, err := c.shell(ctx, image, probeScript, sandbox.Overrides{}, strconv.Itoa(port))
	if err != nil {
		return imageReport{}, err
	}
	if result.Outcome != sandbox.OutcomeOK {
		return imageReport{}, fmt.Errorf("check image %s: the script ended with %s: %s %s", image, result.Outcome, result.Message, result.Stderr.Data)
	}
	report := imageReport{
		Image: image, ImageID: result.Enforcement.ImageID, Runtime: result.Enforcement.Runtime,
		Cgroup: result.Enforcement.CgroupVersion, connects: readFacts(string(result.Stdout.Data))["connect to the host"] != nil,
	}
	report.Controls = slices.Concat(
		kernelControls(c.limits, result.Enforcement.KernelView),
		probeControls(string(result.Stdout.Data), os.Environ()),
		hostControls(string(result.Stdout.Data), c.host),
	)
	for _, trial := range trials(c.limits) {
		result, err := c.shell(ctx, image, trial.source, trial.limits)
		if err != nil {
			return imageReport{}, err
		}
		control := trial.judge(result)
		control.Name = trial.name
		report.Controls = append(report.Controls, control)
	}
	if result.Enforcement.GVisor {
		report.Controls = onGVisor(report.Controls)
	}
	return report, nil
}

func (c *checker) shell(ctx context.Context, image, script string, limits sandbox.Overrides, args ...string) (sandbox.Result, error) {
	result, err := c.run(ctx, sandbox.Program{Language: shellOf(image), Source: []byte(script), Limits: limits, Args: args})
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("check image %s: %w", image, err)
	}
	return result, nil
}

func (c *checker) run(ctx context.Context, p sandbox.Program) (sandbox.Result, error) {
	p.ID, p.Attempt = "check-"+strconv.FormatInt(time.Now().UnixNano(), 36), 1
	return c.runner.Run(ctx, p)
}

// language runs the check program of a language, which prints 42, and asks for the version.
func (c *checker) language(ctx context.Context, language sandbox.Language) languageCheck {
	report := languageCheck{Language: language.Name, Image: language.Image, Runtime: c.host.Runtime, Version: "unknown"}
	if len(language.Version) > 0 {
		result, err := c.run(ctx, sandbox.Program{Language: versionOf(language.Name), Source: []byte("-")})
		if err == nil {
			report.Version = firstLine(append(result.Stdout.Data, result.Stderr.Data...))
		}
	}
	if language.CheckSource == "" {
		report.OK, report.Problem = true, "(it has no check program)"
		return report
	}
	result, err := c.run(ctx, sandbox.Program{Language: language.Name, Source: []byte(language.CheckSource)})
	if err != nil {
		report.Problem = err.Error()
		return report
	}
	report.Output = strings.TrimSpace(string(result.Stdout.Data))
	report.OK = result.Outcome == sandbox.OutcomeOK && report.Output == "42"
	if !report.OK {
		report.Problem = strings.TrimSpace(fmt.Sprintf("%s %s %s", result.Outcome, result.Message, firstLine(complaint(result))))
	}
	return report
}

// complaint is what a program that failed wrote to stderr, or its compiler.
func complaint(result sandbox.Result) []byte {
	if result.Compile != nil && result.Outcome == sandbox.OutcomeCompileError {
		return result.Compile.Stderr.Data
	}
	return result.Stderr.Data
}

func firstLine(output []byte) string {
	first, _, _ := strings.Cut(strings.TrimSpace(string(output)), "\n")
	return first
}
