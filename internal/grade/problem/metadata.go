package problem

import (
	"slices"
	"strings"
)

// The versions of the format.
const (
	VersionLegacy     = "legacy"
	VersionLegacyICPC = "legacy-icpc"
	Version202307     = "2023-07"
	Version202509     = "2025-09"
)

// Metadata is what problem.yaml says.
type Metadata struct {
	// Version is one of the four; 2023-07-draft is 2023-07.
	Version string
	// Names are the problem's names by language code; legacy packages have one, under "".
	Names map[string]string
	// UUID, License and RightsOwner are as given.
	UUID, License, RightsOwner string
	// Scoring, Interactive, MultiPass and SubmitAnswer are the problem's types.
	Scoring, Interactive, MultiPass, SubmitAnswer bool
	// Minimize tells that a lower score is better (legacy).
	Minimize bool
	// Limits are what the package gives.
	Limits Limits
	// CustomValidation tells that the package's own output validators judge; CustomScore that
	// they also score, which is always allowed since 2023-07.
	CustomValidation, CustomScore bool
	// ValidatorFlags are the legacy flags for all tests.
	ValidatorFlags []string
	// Languages are the codes of the languages that are allowed; nil is all.
	Languages []string
	// AllowFileWriting tells that a submission may write to its folder.
	AllowFileWriting bool
	// Constants replace {{name}} in programs and test_group.yaml.
	Constants map[string]string

	grading legacyGrading
}

// legacyGrading are the settings of tests that old packages have in problem.yaml. They override
// every testdata.yaml, as in the reference.
type legacyGrading struct {
	accept, reject *float64
	scoreRange     *string
	onReject       string
}

// Legacy tells that the package is of the format before 2023-07.
func (m Metadata) Legacy() bool { return m.Version == VersionLegacy || m.Version == VersionLegacyICPC }

// Name is the problem's name in English or, without one, in the first language by its code.
func (m Metadata) Name() string {
	if name, found := m.Names["en"]; found {
		return name
	}
	codes := make([]string, 0, len(m.Names))
	for code := range m.Names {
		codes = append(codes, code)
	}
	if len(codes) == 0 {
		return ""
	}
	return m.Names[slices.Min(codes)]
}

var licenses = []string{"unknown", "public domain", "cc0", "cc by", "cc by-sa", "educational", "permission"}

// readMetadata reads problem.yaml. Without the file the package may still be one of DOMjudge's.
func readMetadata(m *mapping) Metadata {
	meta := Metadata{Version: VersionLegacy, License: "unknown", Names: map[string]string{}}
	if version, found := m.choice("problem_format_version", VersionLegacy, VersionLegacyICPC, Version202307, Version202307+"-draft", Version202509); found {
		meta.Version = strings.TrimSuffix(version, "-draft")
	}
	meta.UUID, _ = m.text("uuid")
	meta.RightsOwner, _ = m.text("rights_owner")
	if license, found := m.choice("license", licenses...); found {
		meta.License = license
	}
	meta.Limits = readLimits(m.inner("limits"), meta.Legacy())
	if meta.Legacy() {
		readLegacy(m, &meta)
	} else {
		readCurrent(m, &meta)
	}
	m.close()
	return meta
}

func readLegacy(m *mapping, meta *Metadata) {
	if name, found := m.text("name"); found {
		meta.Names[""] = name
	}
	m.text("author")
	m.text("source")
	m.text("source_url")
	m.ignore("keywords", "libraries", "languages")
	readLegacyTypes(m, meta)
	if flags, found := m.text("validator_flags"); found {
		meta.ValidatorFlags = strings.Fields(flags)
	}
	readValidation(m, meta)

	grading := m.inner("grading")
	if objective, found := grading.choice("objective", "max", "min"); found {
		meta.Minimize = objective == "min"
	}
	grading.truth("show_test_data_groups")
	meta.grading = readOldGrading(grading)
	grading.close()
	if m.has("grading") && !meta.Scoring {
		m.warnf("grading", "only counts for problems of type scoring")
	}
}

// readLegacyTypes also takes the words that DOMjudge allows after each other.
func readLegacyTypes(m *mapping, meta *Metadata) {
	text, found := m.text("type")
	if !found {
		return
	}
	for _, word := range strings.Fields(text) {
		switch word {
		case "pass-fail":
		case "scoring":
			meta.Scoring = true
		case "interactive":
			meta.Interactive, meta.CustomValidation = true, true
		case "multi-pass":
			meta.MultiPass, meta.CustomValidation = true, true
		default:
			m.errorf("type", "%q: want pass-fail or scoring", shorten(word))
		}
	}
}

// readValidation reads "default" or "custom [score] [interactive] [multi-pass]"; the last word is DOMjudge's.
func readValidation(m *mapping, meta *Metadata) {
	text, found := m.text("validation")
	if !found {
		return
	}
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != "default" && words[0] != "custom" || words[0] == "default" && len(words) > 1 {
		m.errorf("validation", "%q: want default, or custom and then any of score and interactive", shorten(text))
		return
	}
	meta.CustomValidation = words[0] == "custom"
	for _, word := range words[1:] {
		switch word {
		case "score":
			meta.CustomScore = true
		case "interactive":
			meta.Interactive = true
		case "multi-pass":
			meta.MultiPass = true
		default:
			m.errorf("validation", "%q: want default, or custom and then any of score and interactive", shorten(text))
		}
	}
	if meta.CustomScore && !meta.Scoring {
		m.errorf("validation", "score is only for problems of type scoring")
	}
}

func readOldGrading(m *mapping) legacyGrading {
	var old legacyGrading
	old.accept = optionalNumber(m, "accept_score")
	old.reject = optionalNumber(m, "reject_score")
	if text, found := m.text("range"); found {
		old.scoreRange = &text
	}
	switch mode, _ := m.choice("on_reject", "first_error", "worst_error", "grade"); mode {
	case "first_error":
		old.onReject = "break"
	case "grade":
		old.onReject = "continue"
	}
	return old
}

// maxScore bounds scores far above any use, so that sums stay finite.
const maxScore = 1e12

func optionalNumber(m *mapping, key string) *float64 {
	if value, found := m.number(key, -maxScore, maxScore); found {
		return &value
	}
	return nil
}
