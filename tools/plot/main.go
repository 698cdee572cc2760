// Command plot draws the figures of docs/scaling.md from the tables that internal/e2e/scale/cmd/simulate wrote. It is in
// the module of the tools, because nothing else needs what it draws with.
//
// Its one invariant: it draws what is in the tables and reckons nothing but the line of what the slots allow.
package main

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

// run draws from the tables in the first folder into the second.
func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments: want the folder of the tables and that of the figures", len(args))
	}
	rows, err := readTable(filepath.Join(args[0], "dispatch.csv"))
	if err != nil {
		return err
	}
	if err := drawDispatch(rows, filepath.Join(args[1], "scaling-dispatch.svg")); err != nil {
		return fmt.Errorf("draw dispatch: %w", err)
	}
	if err := drawProcessors(rows, filepath.Join(args[1], "scaling-processors.svg")); err != nil {
		return fmt.Errorf("draw processors: %w", err)
	}
	return nil
}

// row is a row of a table by the names of its columns.
type row map[string]string

func (r row) number(column string) float64 {
	value, _ := strconv.ParseFloat(r[column], 64) // an empty one is drawn nowhere
	return value
}

func readTable(path string) ([]row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(records) < 2 {
		return nil, fmt.Errorf("read %s: it has %d lines: want its columns and rows", path, len(records))
	}
	var rows []row
	for _, record := range records[1:] {
		r := row{}
		for i, column := range records[0] {
			r[column] = record[i]
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// colors can be told apart by those who see no red or no green.
var colors = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
	color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
	color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
	color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff},
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(8)
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	return p
}

func save(p *plot.Plot, path string) error { return p.Save(18*vg.Centimeter, 11*vg.Centimeter, path) }

// drawDispatch draws jobs started a second against slots, and what slots allow as a dashed line.
func drawDispatch(rows []row, path string) error {
	p := newPlot("Jobs started a second, from a queue that never gets empty", "slots (10 for each worker)", "jobs/s")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 10, Label: "10"}, {Value: 20, Label: "20"}, {Value: 40, Label: "40"}, {Value: 80, Label: "80"}, {Value: 200, Label: "200"}})
	p.Y.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 10, Label: "10"}, {Value: 100, Label: "100"}, {Value: 1000, Label: "1,000"}, {Value: 10000, Label: "10,000"}})
	p.Y.Min, p.Y.Max = 8, 20000
	for i, run := range []string{"0", "10", "100", "1000"} {
		var started, possible plotter.XYs
		for _, r := range rows {
			if r["run_ms"] != run {
				continue
			}
			started = append(started, plotter.XY{X: r.number("slots"), Y: r.number("started_per_s")})
			if y := r.number("possible_per_s"); y > 0 && y <= p.Y.Max {
				possible = append(possible, plotter.XY{X: r.number("slots"), Y: y})
			}
		}
		line, points, err := plotter.NewLinePoints(started)
		if err != nil {
			return err
		}
		line.Color, line.Width, points.Color, points.Shape = colors[i], vg.Points(1.5), colors[i], draw.CircleGlyph{}
		p.Add(line, points)
		p.Legend.Add("programs of "+run+" ms", line, points)
		if len(possible) == 0 {
			continue
		}
		limit, err := plotter.NewLine(possible)
		if err != nil {
			return err
		}
		limit.Color, limit.Dashes = colors[i], []vg.Length{vg.Points(3), vg.Points(3)}
		p.Add(limit)
	}
	return save(p, path)
}

// drawProcessors draws who uses the processors when programs take no time.
func drawProcessors(rows []row, path string) error {
	p := newPlot("Processors in use, with programs of 0 ms", "workers", "processors")
	p.Y.Min = 0
	for i, column := range []string{"redis_cpu", "workers_cpu", "machine_cpu"} {
		var used plotter.XYs
		for _, r := range rows {
			if r["run_ms"] == "0" {
				used = append(used, plotter.XY{X: r.number("workers"), Y: r.number(column)})
			}
		}
		line, points, err := plotter.NewLinePoints(used)
		if err != nil {
			return err
		}
		line.Color, line.Width, points.Color, points.Shape = colors[i], vg.Points(1.5), colors[i], draw.CircleGlyph{}
		p.Add(line, points)
		p.Legend.Add([]string{"Redis", "workers", "the whole machine"}[i], line, points)
	}
	p.Y.Max = 3
	return save(p, path)
}
