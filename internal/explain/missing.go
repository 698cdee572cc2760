package explain

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	readOnlyTexts = regexp.MustCompile(`Read-only file system|EROFS`)
	stdinTexts    = regexp.MustCompile(`EOFError: EOF when reading a line`)

	// networkTexts are what Python, Node, bash, curl, git, pip, Go and Java say without a network.
	networkTexts = regexp.MustCompile(strings.Join([]string{
		`Temporary failure in name resolution`, `Name or service not known`, `No address associated with hostname`,
		`Network is unreachable`, `ENETUNREACH`, `getaddrinfo (?:EAI_AGAIN|ENOTFOUND)`, `Could not resolve host`,
		`Failed to establish a new connection`, `Could not find a version that satisfies the requirement`,
		`java\.net\.UnknownHostException`, `dial tcp: lookup`,
	}, "|"))
)

func readOnly(*facts) string {
	return "only /workspace and /tmp can be written, everything else is read-only. Use a path below /workspace"
}

func noStdin(*facts) string {
	return "the program read past the end of its input. There is nobody to type: pass all that it reads in the argument stdin"
}

func (f *facts) networkMissing() bool {
	return len(f.Result.Enforcement.Interfaces) == 0 && says(networkTexts)(f)
}

func noNetwork(*facts) string {
	return "there is no network in the sandbox, so nothing can be downloaded, installed or called. Work with what is installed and with the data that you have, or make up test data"
}

// missingModule are texts about a module, package or header that is not there, with the language that it belongs to.
var missingModule = []struct {
	language string
	pattern  *regexp.Regexp
}{
	{"python", regexp.MustCompile(`No module named '?([\w.]+)`)},
	{"node", regexp.MustCompile(`Cannot find (?:module|package) '([^'\n]+)'`)},
	{"ruby", regexp.MustCompile(`cannot load such file -- (\S+)`)},
	{"perl", regexp.MustCompile(`Can't locate (\S+)\.pm in @INC`)},
	{"lua", regexp.MustCompile(`module '([^'\n]+)' not found`)},
	{"c", regexp.MustCompile(`fatal error: ([^:\n]+): No such file or directory`)},
	{"go", regexp.MustCompile(`(?:cannot find package "|package )([\w./-]+)(?:" in|;| is not in (?:std|GOROOT))`)},
	{"rust", regexp.MustCompile("(?:can't find crate for|unresolved import|unresolved module or unlinked crate|undeclared crate or module) `(\\w+)")},
	{"java", regexp.MustCompile(`error: package ([\w.]+) does not exist`)},
}

// module returns what is missing and of which language it is.
func (f *facts) module() (language, name string, found bool) {
	for _, candidate := range missingModule {
		if name, found := f.find(candidate.pattern); found {
			return candidate.language, name, true
		}
	}
	return "", "", false
}

func (f *facts) hasMissingModule() bool {
	_, _, found := f.module()
	return found
}

func moduleMissing(f *facts) string {
	language, name, _ := f.module()
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		return fmt.Sprintf("there is no file %s. A file of your own must be in /workspace: pass it in files, or write it before", name)
	}
	return fmt.Sprintf("%s is not installed, and nothing can be installed. %s If it is a file of your own, it must be in /workspace: pass it in files, or write it before",
		name, installed(language, f.Result.Enforcement.Image))
}

// FullPython are the packages for Python, as they are imported, that the image sandloop/full has and a model may ask for.
func FullPython() []string { return []string{"numpy", "pandas", "scipy", "matplotlib", "pytest"} }

// installed tells what there is for a language in an image.
func installed(language, image string) string {
	ours := strings.HasPrefix(image, "sandloop/core") || strings.HasPrefix(image, "sandloop/full")
	switch {
	case language == "python" && strings.HasPrefix(image, "sandloop/full"):
		packages := FullPython()
		last := len(packages) - 1
		return fmt.Sprintf("Python has its standard library, %s and %s.", strings.Join(packages[:last], ", "), packages[last])
	case language == "python" && !ours:
		return "help('modules') in Python lists what is installed."
	case language == "c":
		return "C and C++ have their standard libraries alone."
	case ours:
		return fmt.Sprintf("There is what comes with the language (%s) itself, its standard library or built-in modules.", language)
	}
	return "Do without it."
}

// missingCommand are texts of shells, of Python and of Node about a program that is not there.
var missingCommand = []*regexp.Regexp{
	regexp.MustCompile(`(?m): line \d+: (?:exec: )?([^:\s]+): (?:command )?not found$`),
	regexp.MustCompile(`(?m)sh: \d+: (?:exec: )?([^:\s]+): not found$`),
	regexp.MustCompile(`(?s)_execute_child.*FileNotFoundError: \[Errno 2\] No such file or directory: '([^'\n]+)'`),
	regexp.MustCompile(`spawn (\S+) ENOENT`),
	regexp.MustCompile(`env: ['‘]([^'’\n]+)['’]: No such file or directory`),
}

// command returns the name of a command that is not there.
func (f *facts) command() (name string, found bool) {
	for _, pattern := range missingCommand {
		if name, found = f.find(pattern); found {
			return name, true
		}
	}
	return "", false
}

func (f *facts) hasMissingCommand() bool {
	_, found := f.command()
	return found
}

func commandMissing(f *facts) string {
	name, _ := f.command()
	return fmt.Sprintf("there is no command %s, and nothing can be installed. Use another program or a library of a language, such as Python's standard library", name)
}
