package problem

import (
	"slices"
	"sort"
	"strings"
)

// maxPattern bounds the length of a pattern in submissions.yaml.
const maxPattern = 1000

var allClasses = []string{"AC", "WA", "TLE", "RTE"}

// submissionSettings are the settings of all submissions that match a pattern.
type submissionSettings struct {
	pattern              string
	language, entrypoint string
	rules                []ExpectationRule
}

// currentFolders are the promises of the folders since 2023-07.
func currentFolders() map[string]ExpectationRule {
	return map[string]ExpectationRule{
		"accepted":            {Permitted: []string{"AC"}, UseForLower: true},
		"rejected":            {Required: []string{"RTE", "TLE", "WA"}},
		"wrong_answer":        {Permitted: []string{"AC", "WA"}, Required: []string{"WA"}, UseForLower: true},
		"time_limit_exceeded": {Permitted: []string{"AC", "TLE"}, Required: []string{"TLE"}, UseForUpper: true},
		"run_time_error":      {Permitted: []string{"AC", "RTE"}, Required: []string{"RTE"}, UseForLower: true},
		"brute_force":         {Permitted: []string{"AC", "RTE", "TLE"}, Required: []string{"RTE", "TLE"}},
	}
}

// readSubmissionsYAML reads submissions.yaml. An entry with the bare name of a folder changes the
// promise of that folder; all others add to it.
func (f *folder) readSubmissionsYAML(folders map[string]ExpectationRule, meta Metadata) []submissionSettings {
	m, found := f.readMapping(submissionsFile, nil)
	if !found {
		return nil
	}
	patterns := make([]string, 0, len(m.values))
	for pattern := range m.values {
		patterns = append(patterns, pattern)
	}
	sort.Strings(patterns)
	var all []submissionSettings
	for _, pattern := range patterns {
		if len(pattern) > maxPattern {
			m.errorf(pattern, "want a pattern of at most %d bytes", maxPattern)
			continue
		}
		inner := m.inner(pattern)
		settings := submissionSettings{pattern: pattern}
		settings.language, _ = inner.text("language")
		settings.entrypoint, _ = inner.text("entrypoint")
		inner.truth("model_solution")
		inner.ignore("authors")
		base, isFolder := folders[pattern]
		rule := readRule(inner, base, meta)
		if isFolder {
			folders[pattern] = rule
		} else {
			settings.rules = appendRule(settings.rules, rule)
		}
		settings.rules = append(settings.rules, readScopes(inner, meta)...)
		inner.close()
		all = append(all, settings)
	}
	m.close()
	return all
}

// readScopes reads the maps whose keys are patterns for tests.
func readScopes(m *mapping, meta Metadata) []ExpectationRule {
	var rules []ExpectationRule
	var scopes []string
	for key := range m.values {
		if strings.HasPrefix(key, "sample") || strings.HasPrefix(key, "secret") || strings.HasPrefix(key, "{") || strings.HasPrefix(key, "*") {
			scopes = append(scopes, key)
		}
	}
	sort.Strings(scopes)
	for _, scope := range scopes {
		if len(scope) > maxPattern {
			m.errorf(scope, "want a pattern of at most %d bytes", maxPattern)
			continue
		}
		inner := m.inner(scope)
		rules = appendRule(rules, readRule(inner, ExpectationRule{Scope: scope}, meta))
		inner.close()
	}
	return rules
}

func appendRule(rules []ExpectationRule, rule ExpectationRule) []ExpectationRule {
	if rule.Permitted == nil && rule.Required == nil && rule.Low == nil && rule.Message == "" && !rule.UseForLower && !rule.UseForUpper {
		return rules
	}
	return append(rules, rule)
}

// readRule lays the keys of a map over a rule.
func readRule(m *mapping, rule ExpectationRule, meta Metadata) ExpectationRule {
	changed := m.has("permitted") || m.has("required")
	if classes, found := readClasses(m, "permitted"); found {
		rule.Permitted = classes
	}
	if classes, found := readClasses(m, "required"); found {
		rule.Required = classes
	}
	if changed {
		rule.UseForLower = rule.Permitted != nil && !slices.Contains(rule.Permitted, "TLE")
		rule.UseForUpper = slices.Equal(rule.Required, []string{"TLE"})
	}
	if message, found := m.text("message"); found {
		rule.Message = message
	}
	readScore(m, &rule, meta)
	readUse(m, &rule)
	return rule
}

func readClasses(m *mapping, key string) ([]string, bool) {
	classes, found := m.texts(key, false)
	for _, class := range classes {
		if !slices.Contains(allClasses, class) {
			m.errorf(key, "%q: want any of AC, WA, TLE, RTE", shorten(class))
			return nil, false
		}
	}
	if found && len(classes) == 0 {
		m.errorf(key, "is empty: want any of AC, WA, TLE, RTE")
		return nil, false
	}
	return classes, found
}

func readScore(m *mapping, rule *ExpectationRule, meta Metadata) {
	node := m.get("score")
	if node == nil {
		return
	}
	if !meta.Scoring {
		m.errorf("score", "is only for problems of type scoring")
		return
	}
	if len(node.Content) == 0 {
		rule.Low = optionalNumber(m, "score")
		rule.High = rule.Low
		return
	}
	var bounds []float64
	if err := node.Decode(&bounds); err != nil || len(bounds) != 2 || !(bounds[0] <= bounds[1]) {
		m.errorf("score", "want a number, or two with the lower one first")
		return
	}
	rule.Low, rule.High = &bounds[0], &bounds[1]
}

// readUse reads use_for_time_limit, which may add or take away a bound.
func readUse(m *mapping, rule *ExpectationRule) {
	node := m.get("use_for_time_limit")
	if node == nil {
		return
	}
	if node.Tag == "!!bool" {
		if use, _ := m.truth("use_for_time_limit"); !use {
			rule.UseForLower, rule.UseForUpper = false, false
		}
		return
	}
	switch side, _ := m.choice("use_for_time_limit", "lower", "upper"); side {
	case "lower":
		rule.UseForLower, rule.UseForUpper = true, false
		if rule.Permitted == nil {
			rule.Permitted = []string{"AC", "WA", "RTE"}
		}
	case "upper":
		rule.UseForLower, rule.UseForUpper = false, true
		if rule.Required == nil {
			rule.Required = []string{"TLE"}
		}
	}
}

// applySettings adds the settings of every pattern that matches the submission.
func applySettings(submission *Submission, all []submissionSettings) {
	name := strings.TrimPrefix(submission.Path, "submissions/")
	for _, settings := range all {
		if !settings.matches(*submission, name) {
			continue
		}
		if settings.language != "" {
			submission.Language = settings.language
		}
		if settings.entrypoint != "" {
			submission.Entrypoint = settings.entrypoint
		}
		submission.Expect.Rules = append(submission.Expect.Rules, settings.rules...)
	}
}

// matches tells whether the pattern names the submission, a folder around it or a file in it.
func (s submissionSettings) matches(submission Submission, name string) bool {
	if matchesPathOrParent(s.pattern, name) {
		return true
	}
	return slices.ContainsFunc(submission.Files, func(file File) bool {
		return matchesPath(s.pattern, strings.TrimPrefix(file.Source, "submissions/"))
	})
}
