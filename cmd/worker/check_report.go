package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// checkReport is all that worker check found.
type checkReport struct {
	OK        bool            `json:"ok"`
	Host      hostReport      `json:"host"`
	Images    []imageReport   `json:"images"`
	Languages []languageCheck `json:"languages"`
	// Absent says which images could not be looked at.
	Absent []string `json:"absent,omitempty"`
}

type imageReport struct {
	Image    string    `json:"image"`
	ImageID  string    `json:"image_id"`
	Runtime  string    `json:"runtime"`
	Cgroup   int       `json:"cgroup_version"`
	Controls []control `json:"controls"`
	// connects tells that programs in it have what it takes to try a connection.
	connects bool
}

// languageCheck is what became of a language's check program.
type languageCheck struct {
	Language string `json:"language"`
	Image    string `json:"image"`
	Runtime  string `json:"runtime"`
	Version  string `json:"version"`
	Output   string `json:"output"`
	OK       bool   `json:"ok"`
	// Problem tells why it is not.
	Problem string `json:"problem,omitempty"`
}

// judge sets OK from everything below.
func (r *checkReport) judge() {
	r.OK = len(r.Images) > 0
	for _, image := range r.Images {
		for _, c := range image.Controls {
			r.OK = r.OK && c.OK
		}
	}
	for _, language := range r.Languages {
		r.OK = r.OK && language.OK
	}
}

func (r *checkReport) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// writeTable writes what people read.
func (r *checkReport) writeTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, text := range r.Host.lines() {
		line(table, "%s", text)
	}
	line(table, "")
	for _, image := range r.Images {
		line(table, "%s %.19s, runtime %s, cgroup version %d", image.Image, image.ImageID, image.Runtime, image.Cgroup)
		line(table, "CONTROL\tASKED\tFOUND\t")
		for _, c := range image.Controls {
			line(table, "%s\t%s\t%s\t%s", c.Name, c.Asked, c.Found, verdict(c.OK))
		}
		line(table, "")
	}
	if len(r.Languages) > 0 {
		line(table, "LANGUAGE\tIMAGE\tRUNTIME\tVERSION\tPRINTS\t")
	}
	for _, l := range r.Languages {
		line(table, "%s\t%s\t%s\t%s\t%q\t%s", l.Language, l.Image, l.Runtime, l.Version, l.Output, strings.TrimSpace(verdict(l.OK)+" "+l.Problem))
	}
	for _, absent := range r.Absent {
		line(table, "%s", absent)
	}
	return table.Flush()
}

func line(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...) // a tabwriter tells of errors when it is flushed
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "DIFFERS"
}
