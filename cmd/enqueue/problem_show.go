package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
)

func newProblemShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show PACKAGE", Short: "Print what a problem package holds, without running anything",
		Args: onePackage,
		RunE: func(_ *cobra.Command, args []string) error {
			loaded, closeProblem, err := a.loadProblem(args[0])
			if err != nil {
				return err
			}
			defer closeProblem()
			return asOutput(showProblem(a.stdout, loaded))
		},
	}
}

func onePackage(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one problem package, a folder or a zip archive")
	}
	return nil
}

func showProblem(w io.Writer, p *problem.Problem) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", name, printable(fmt.Sprintf(format, args...)))
	}
	row("name", "%s (%s)", p.Name(), p.ShortName)
	row("format", "%s", p.Version)
	row("type", "%s", strings.Join(typesOf(p), ", "))
	row("license", "%s", p.License)
	if p.Languages != nil {
		row("languages", "%s", strings.Join(p.Languages, ", "))
	}
	showLimits(row, p.Limits)
	for _, validator := range p.OutputValidators {
		row("output validator", "%s", validator.Path)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := showGroups(w, p); err != nil {
		return err
	}
	return showSubmissions(w, p)
}

func typesOf(p *problem.Problem) (types []string) {
	for _, one := range []struct {
		is   bool
		name string
	}{
		{!p.Scoring, "pass-fail"},
		{p.Scoring, "scoring"},
		{p.Interactive, "interactive"},
		{p.MultiPass, "multi-pass"},
		{p.CustomValidation && !p.Interactive, "custom validation"},
	} {
		if one.is {
			types = append(types, one.name)
		}
	}
	return types
}

func showLimits(row func(name, format string, args ...any), given problem.Limits) {
	limits := given.WithDefaults(problem.TypicalLimits())
	timeLimit := "none: the accepted submissions decide"
	if limits.Time > 0 {
		timeLimit = limits.Time.String()
	}
	row("time limit", "%s (accepted × %g, too slow ÷ %g)", timeLimit, limits.ACToLimit, limits.LimitToTLE)
	for _, language := range slices.Sorted(maps.Keys(limits.Languages)) {
		row("limits of "+language, "%s", exceptionText(limits.Languages[language]))
	}
	row("memory", "%s", humanSize(limits.Memory))
	row("output", "%s", humanSize(limits.Output))
	row("source", "%s", humanSize(limits.Code))
	row("compiler", "%v, %s", limits.CompileTime, humanSize(limits.CompileMemory))
	row("validator", "%v, %s", limits.ValidationTime, humanSize(limits.ValidationMemory))
}

func exceptionText(exception problem.LanguageLimits) string {
	var parts []string
	if exception.Time > 0 {
		parts = append(parts, "time "+exception.Time.String())
	}
	if exception.TimeFactor > 0 {
		parts = append(parts, fmt.Sprintf("time × %g", exception.TimeFactor))
	}
	if exception.Memory > 0 {
		parts = append(parts, "memory "+humanSize(exception.Memory))
	}
	return strings.Join(parts, ", ")
}

// showGroups prints the tree of groups with their tests.
func showGroups(w io.Writer, p *problem.Problem) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nTEST\tINPUT\tANSWER\tFLAGS")
	var show func(group *grade.Group, depth int)
	show = func(group *grade.Group, depth int) {
		indent := strings.Repeat("  ", depth)
		for _, item := range group.Items {
			if item.Group != nil {
				if tests := len(item.Group.Tests()); tests > 0 {
					_, _ = fmt.Fprintf(table, "%s%s/\t\t\t%s\n", indent, printable(item.Group.Name), groupText(item.Group))
					show(item.Group, depth+1)
				}
				continue
			}
			test, _ := p.Test(item.Test)
			_, _ = fmt.Fprintf(table, "%s%s\t%s\t%s\t%s\n", indent, printable(test.Name), countedSize(test.InputSize), countedSize(test.AnswerSize),
				printable(strings.Join(test.ValidatorFlags, " ")))
		}
	}
	show(p.Root, 0)
	return table.Flush()
}

// groupText says how a group is judged and scored.
func groupText(group *grade.Group) string {
	parts := []string{"1 test"}
	if tests := len(group.Tests()); tests != 1 {
		parts[0] = fmt.Sprintf("%d tests", tests)
	}
	if rule, scoring := group.Rule.(grade.ScoringRule); scoring {
		parts = append(parts, map[grade.Aggregation]string{
			grade.PassFail: "all or nothing", grade.SumOfItems: "sum", grade.MinOfItems: "minimum", grade.Unscored: "no score",
		}[rule.Aggregation])
		if rule.Max != nil {
			parts = append(parts, fmt.Sprintf("at most %g", *rule.Max))
		}
	}
	if group.Break {
		parts = append(parts, "ends at the first failure")
	}
	if len(group.RequirePass) > 0 {
		parts = append(parts, "after "+strings.Join(group.RequirePass, ", "))
	}
	return strings.Join(parts, ", ")
}

func showSubmissions(w io.Writer, p *problem.Problem) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "\nSUBMISSION\tPROMISES")
	for _, submission := range p.Submissions {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", printable(submission.Path), printable(submission.Expect.String()))
	}
	return table.Flush()
}
