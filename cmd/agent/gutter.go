package main

import (
	"strings"

	"github.com/sandloop/sandloop/internal/cli"
)

// gutter shows a stream of a program, with a mark before each line that tells it from all else. A program cannot
// write over the mark: a carriage return begins the line anew behind it.
type gutter struct {
	screen *screen
	mark   string // painted
	style  style
	// returned tells that the last character was a carriage return.
	returned bool
	disarmer *cli.Disarmer
}

func newGutter(s *screen, mark string, how style) *gutter {
	g := &gutter{screen: s, mark: s.palette.paint(faint, mark), style: how}
	g.disarmer = cli.NewDisarmer(lines{g})
	return g
}

// piece shows what came next, which may end in the middle of a line or a character.
func (g *gutter) piece(data []byte) { _, _ = g.disarmer.Write(data) }

// end shows what was held back.
func (g *gutter) end() { _ = g.disarmer.Flush() }

// lines takes what the disarmer made of a piece.
type lines struct{ *gutter }

func (l lines) Write(data []byte) (int, error) {
	for text := string(data); text != ""; {
		if l.returned && text[0] != '\n' {
			l.again()
		}
		l.returned = false
		at := strings.IndexAny(text, "\r\n")
		if at < 0 {
			l.part(text)
			break
		}
		l.part(text[:at])
		if text[at] == '\n' {
			l.feed()
		} else {
			l.returned = true
		}
		text = text[at+1:]
	}
	return len(data), nil
}

// part writes a part of a line.
func (g *gutter) part(text string) {
	if text == "" {
		return
	}
	g.begin()
	g.screen.show(g.screen.palette.paint(g.style, text))
}

func (g *gutter) begin() {
	g.screen.take(g)
	if g.screen.owner != g {
		g.screen.show(g.mark)
		g.screen.owner = g
	}
}

func (g *gutter) feed() {
	g.begin()
	g.screen.show("\n")
	g.screen.owner = nil
}

// again begins a line anew: in its place on a terminal, and below it where lines stay.
func (g *gutter) again() {
	switch {
	case g.screen.owner != g:
	case g.screen.palette.on:
		g.screen.show("\r\x1b[K" + g.mark)
	default:
		g.feed()
	}
}
