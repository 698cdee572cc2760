package config

import (
	_ "embed" // for languages.yaml
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"go.yaml.in/yaml/v3"

	"github.com/sandloop/sandloop/internal/sandbox"
)

//go:embed languages.yaml
var builtInLanguages []byte

// languageRow is a language as a file has it, below its name.
type languageRow struct {
	Aliases      []string          `mapstructure:"aliases"`
	Extensions   []string          `mapstructure:"extensions"`
	Interpreters []string          `mapstructure:"interpreters"`
	Image        string            `mapstructure:"image"`
	File         string            `mapstructure:"file"`
	Compile      []string          `mapstructure:"compile"`
	Run          []string          `mapstructure:"run"`
	Env          map[string]string `mapstructure:"env"`
	HeapFraction float64           `mapstructure:"heap_fraction"`
	LimitFloors  limitFloors       `mapstructure:"limit_floors"`
	Check        languageCheck     `mapstructure:"check"`
	Version      []string          `mapstructure:"version"`
}

type limitFloors struct {
	Memory      Size          `mapstructure:"memory"`
	PIDs        int           `mapstructure:"pids"`
	CPUs        float64       `mapstructure:"cpus"`
	CompileWall time.Duration `mapstructure:"compile_wall"`
}

type languageCheck struct {
	Source string `mapstructure:"source"`
}

// Languages returns the built-in table, with the rows of LanguagesFile laid over it field
// by field: a row that names only an image changes only that. New names are new rows.
func (c Config) Languages() (*sandbox.Languages, error) {
	rows, err := readLanguages(builtInLanguages)
	if err != nil {
		return nil, fmt.Errorf("built-in languages: %w", err)
	}
	if c.LanguagesFile == "" {
		return newLanguages(rows)
	}
	content, err := os.ReadFile(c.LanguagesFile)
	if err != nil {
		return nil, fmt.Errorf("languages_file: %w", err)
	}
	own, err := readLanguages(content)
	if err != nil {
		return nil, fmt.Errorf("languages_file %s: %w", c.LanguagesFile, err)
	}
	overlay(rows, own)
	languages, err := newLanguages(rows)
	if err != nil {
		return nil, fmt.Errorf("languages_file %s: %w", c.LanguagesFile, err)
	}
	return languages, nil
}

// rawTable holds rows as they were read, so that a row can tell which fields it sets.
type rawTable map[string]map[string]any

// readLanguages reads a table and refuses fields that do not exist or have the wrong kind.
func readLanguages(content []byte) (rawTable, error) {
	table := rawTable{}
	if err := yaml.Unmarshal(content, &table); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if _, err := decodeRow(table[name]); err != nil {
			return nil, fmt.Errorf("language %s: %w", name, err)
		}
	}
	return table, nil
}

func decodeRow(raw map[string]any) (row languageRow, err error) {
	var found mapstructure.Metadata
	settings := &mapstructure.DecoderConfig{Result: &row, Metadata: &found}
	strict(settings)
	decoder, err := mapstructure.NewDecoder(settings)
	if err != nil {
		return languageRow{}, err
	}
	errs := []error{decodeProblems(decoder.Decode(raw))}
	for _, key := range slices.Sorted(slices.Values(found.Unused)) {
		errs = append(errs, fmt.Errorf("%s: there is no such key", key))
	}
	return row, errors.Join(errs...)
}

// overlay lays the fields that over sets onto base; of sections, such as env, key by key.
func overlay(base, over rawTable) {
	for name, row := range over {
		if base[name] == nil {
			base[name] = map[string]any{}
		}
		for field, value := range row {
			section, isSection := value.(map[string]any)
			below, hasSection := base[name][field].(map[string]any)
			if isSection && hasSection {
				maps.Copy(below, section)
				continue
			}
			base[name][field] = value
		}
	}
}

func newLanguages(table rawTable) (*sandbox.Languages, error) {
	languages := make([]sandbox.Language, 0, len(table))
	for name, raw := range table {
		row, err := decodeRow(raw)
		if err != nil {
			return nil, fmt.Errorf("language %s: %w", name, err)
		}
		language := row.language(name)
		if err := checkLanguage(language); err != nil {
			return nil, fmt.Errorf("language %s: %w", name, err)
		}
		languages = append(languages, language)
	}
	return sandbox.NewLanguages(languages)
}

func (r languageRow) language(name string) sandbox.Language {
	if r.HeapFraction == 0 {
		r.HeapFraction = 0.75
	}
	return sandbox.Language{
		Name: name, Aliases: r.Aliases, Extensions: r.Extensions, Interpreters: r.Interpreters,
		Image: r.Image, File: r.File, Compile: r.Compile, Run: r.Run, Env: r.Env,
		HeapFraction: r.HeapFraction,
		Floors: sandbox.Floors{
			Memory: int64(r.LimitFloors.Memory), PIDs: r.LimitFloors.PIDs,
			CPUs: r.LimitFloors.CPUs, CompileTime: r.LimitFloors.CompileWall,
		},
		CheckSource: r.Check.Source, Version: r.Version,
	}
}

// checkLanguage bounds the numbers of a row as Validate does those of the configuration.
func checkLanguage(l sandbox.Language) error {
	p := &problems{}
	p.word("name", l.Name)
	within(p, "heap_fraction", l.HeapFraction, 0.1, 0.95)
	within(p, "limit_floors.memory", Size(l.Floors.Memory), 0, highest.Memory)
	within(p, "limit_floors.pids", l.Floors.PIDs, 0, highest.PIDs)
	within(p, "limit_floors.cpus", l.Floors.CPUs, 0, highest.CPUs)
	within(p, "limit_floors.compile_wall", l.Floors.CompileTime, 0, highest.CompileTime)
	return errors.Join(p.errs...)
}
