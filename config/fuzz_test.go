package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLanguages reads any text as a file of languages, laid over the built-in ones: it is refused, or the table has all of those still.
func FuzzLanguages(f *testing.F) {
	f.Add("python: {image: \"python:3.13-slim\"}\n")
	f.Add("python: {run: [], env: {A: b}, heap_fraction: .nan, limit_floors: {memory: 1EiB, pids: -1}}\n")
	f.Add("new: &a {image: x, file: main.x, run: [x, \"{file}\"], aliases: [py], extensions: [py]}\nother: *a\n")
	f.Add("? [a]\n: b\n")
	f.Add("python:\n")
	f.Fuzz(func(t *testing.T, text string) {
		own, err := readLanguages([]byte(text))
		if err != nil {
			return
		}
		rows, err := readLanguages(builtInLanguages)
		require.NoError(t, err)
		builtIn := len(rows)
		overlay(rows, own)
		languages, err := newLanguages(rows)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, len(languages.Names()), builtIn)
	})
}
