package problem

import (
	"bufio"
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// DOMjudge's own files in a package.
const (
	iniFile       = "domjudge-problem.ini"
	timeLimitFile = ".timelimit"
)

// readDOMjudge adds what DOMjudge's files say: a name, a time limit, and exceptions for
// languages. problem.yaml wins over domjudge-problem.ini; .timelimit must not contradict either.
func (f *folder) readDOMjudge(meta *Metadata) {
	yamlTime := meta.Limits.Time
	if data, found := f.read(iniFile, maxYAMLBytes); found {
		f.readINI(data, meta)
	}
	if yamlTime > 0 && meta.Limits.Time != yamlTime {
		f.report.warnf(iniFile, 0, "timelimit is ignored: problem.yaml says %v", yamlTime)
		meta.Limits.Time = yamlTime
	}
	data, found := f.read(timeLimitFile, maxYAMLBytes)
	if !found {
		return
	}
	limit, ok := f.seconds(timeLimitFile, 0, strings.TrimSpace(string(data)))
	if !ok {
		return
	}
	if meta.Limits.Time > 0 && meta.Limits.Time != limit {
		f.report.errorf(timeLimitFile, 0, "says %v and the other settings %v", limit, meta.Limits.Time)
		return
	}
	meta.Limits.Time = limit
}

func (f *folder) readINI(data []byte, meta *Metadata) {
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, maxYAMLBytes)
	for line := 1; scanner.Scan(); line++ {
		key, value, found := iniPair(scanner.Text())
		if !found {
			continue
		}
		f.iniKey(line, key, value, meta)
	}
	if err := scanner.Err(); err != nil {
		f.report.errorf(iniFile, 0, "%v", err)
	}
}

func (f *folder) iniKey(line int, key, value string, meta *Metadata) {
	kind, language, isException := strings.Cut(key, "_")
	switch {
	case key == "name":
		if len(meta.Names) == 0 {
			meta.Names[""] = value
		}
	case key == "timelimit":
		if limit, ok := f.seconds(iniFile, line, value); ok {
			meta.Limits.Time = limit
		}
	case isException && language != "" && (kind == "timelimit" || kind == "timefactor" || kind == "memory"):
		f.iniException(line, kind, language, value, meta)
	case key == "special_run" || key == "special_compare":
		f.report.warnf(iniFile, line, "%s names a program of a DOMjudge server and is ignored", key)
	}
}

func (f *folder) iniException(line int, kind, language, value string, meta *Metadata) {
	exception := meta.Limits.Languages[language]
	switch kind {
	case "timelimit":
		exception.Time, _ = f.seconds(iniFile, line, value)
	case "timefactor":
		factor, err := strconv.ParseFloat(value, 64)
		if err != nil || !(factor > 0 && factor <= maxFactor) {
			f.report.errorf(iniFile, line, "timefactor_%s: %q: want a number above 0 and up to %d", language, shorten(value), maxFactor)
			return
		}
		exception.TimeFactor = factor
	case "memory":
		amount, err := strconv.ParseInt(value, 10, 64)
		if err != nil || amount < 1 || amount > maxMiB {
			f.report.errorf(iniFile, line, "memory_%s: %q: want a number of MiB from 1 to %d", language, shorten(value), maxMiB)
			return
		}
		exception.Memory = amount * mib
	}
	if meta.Limits.Languages == nil {
		meta.Limits.Languages = map[string]LanguageLimits{}
	}
	meta.Limits.Languages[language] = exception
}

// seconds reads a positive number of seconds.
func (f *folder) seconds(file string, line int, text string) (time.Duration, bool) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || value < 0.001 || value > maxSeconds {
		f.report.errorf(file, line, "%q is no time limit: want seconds from 0.001 to %d", shorten(text), maxSeconds)
		return 0, false
	}
	return seconds(value), true
}

// iniPair reads "key = value" with the value perhaps in quotes. Comments, sections and values of
// several lines are no pairs.
func iniPair(line string) (key, value string, found bool) {
	line = strings.TrimSpace(line)
	if line == "" || strings.ContainsAny(line[:1], ";#[") {
		return "", "", false
	}
	key, value, found = strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') {
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			value = value[1 : 1+end]
		}
	} else if comment := strings.IndexByte(value, ';'); comment >= 0 {
		value = strings.TrimSpace(value[:comment])
	}
	return key, value, found
}
