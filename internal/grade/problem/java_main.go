package problem

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// A public class must lie in a file of its name, and the class with main is the one to start.
var (
	javaComments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)
	javaClass    = regexp.MustCompile(`(?m)^[ \t]*(public\s+)?(?:(?:final|abstract|strictfp|sealed)\s+)*(?:class|enum|record|interface)\s+([A-Za-z_$][\w$]*)`)
	javaMain     = regexp.MustCompile(`\bstatic\s+(?:(?:public|final|synchronized)\s+)*void\s+main\s*\(`)
)

// mainName is the name that the main file must have in the sandbox. A submission of one file can be called
// anything: alice.java with a class Main, or a name that is an option to the language's tools.
func (p Program) mainName(language sandbox.Language, main string, files []sandbox.File) string {
	at := slices.IndexFunc(files, func(file sandbox.File) bool { return file.Path == main })
	if at < 0 || p.Entrypoint != "" || len(files) > 1 {
		return main
	}
	if slices.Contains(language.Extensions, ".java") {
		if class := javaMainClass(string(files[at].Data)); class != "" {
			return class + ".java"
		}
	}
	if !fileName.MatchString(path.Base(main)) {
		return language.File
	}
	return main
}

// javaStart chooses of several files one with a main method, which is main's own file if it has one.
func javaStart(main string, files []sandbox.File) string {
	start := main
	for _, file := range files {
		if path.Ext(file.Path) != ".java" || !javaMain.Match(javaComments.ReplaceAll(file.Data, nil)) {
			continue
		}
		if file.Path == main {
			return main
		}
		if start == main {
			start = file.Path
		}
	}
	return start
}

// javaMainClass finds the public class of a source, or else the one that main stands in. Classes inside others do
// not count.
func javaMainClass(source string) string {
	source = javaComments.ReplaceAllStringFunc(source, func(text string) string { return strings.Repeat(" ", len(text)) })
	main := javaMain.FindStringIndex(source)
	withMain := ""
	depth, from := 0, 0
	for _, class := range javaClass.FindAllStringSubmatchIndex(source, -1) {
		between := source[from:class[0]]
		depth += strings.Count(between, "{") - strings.Count(between, "}")
		from = class[0]
		if depth != 0 {
			continue
		}
		name := source[class[4]:class[5]]
		if class[2] >= 0 {
			return name
		}
		if main != nil && class[0] < main[0] {
			withMain = name
		}
	}
	return withMain
}
