package live_test

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
	"github.com/sandloop/sandloop/internal/workspace"
)

// plotting gives an interpreter what it takes to import all that.
func plotting(o *live.Options) {
	memory, cpus := 512*sandbox.MiB, 1.0
	o.Program.Limits = sandbox.Overrides{Memory: &memory, CPUs: &cpus}
}

func TestFiguresComeAsFiles(t *testing.T) {
	t.Parallel()
	s := startOn(t, setupOn(t, testenv.FullImage(t)), "python", plotting)
	outcome := s.do("import sys", "'matplotlib' in sys.modules")
	require.Equal(t, "False", outcome.Report.Value, "it takes long to import")
	outcome = s.do("import matplotlib.pyplot as plt", "plt.plot([1, 2, 3])", "plt.show()", "display('between')",
		"fig, ax = plt.subplots(figsize=(2, 1), dpi=50)", "ax.plot([3, 2])", "fig")
	require.Equal(t, []workspace.Display{
		{MIME: "image/png", Path: "figure-1.png"}, {MIME: "text/plain", Text: "'between'"}, {MIME: "image/png", Path: "figure-2.png"},
	}, outcome.Report.Displays)
	require.Len(t, outcome.Result.Files, 2)
	for i, file := range outcome.Result.Files {
		picture, err := png.Decode(bytes.NewReader(file.Data))
		require.NoError(t, err)
		require.Equal(t, i == 1, picture.Bounds().Dx() < 200, "%v", picture.Bounds())
	}
	require.Contains(t, outcome.Report.Value, "<Figure size")
	require.Empty(t, s.do("1").Report.Displays, "figures are closed")

	outcome = s.do("plt.figure()", "plt.figure()", "1")
	require.Len(t, outcome.Result.Files, 2, "those that are left open come too")
	require.Empty(t, outcome.Result.Stderr.Data, "and show() does not complain")
	outcome = s.run(s.cell("plt.title('$\\\\frac$')", "1"))
	require.Contains(t, string(outcome.Result.Stderr.Data), "Expected", "a figure that cannot be drawn")
	require.NotContains(t, string(outcome.Result.Stderr.Data), ".sandloop")
	require.Empty(t, s.do("1").Result.Stderr.Data)
}

func TestTablesComeAsText(t *testing.T) {
	t.Parallel()
	s := startOn(t, setupOn(t, testenv.FullImage(t)), "python", plotting)
	require.Equal(t, "   a  b\n0  1  x\n1  2  y", s.value("import pandas as pd", "table = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})", "table"))
	require.Equal(t, "0    1\n1    2\nName: a, dtype: int64", s.value("table.a"))
	wide := s.value("pd.DataFrame([list(range(1000000, 1000015))])")
	require.Len(t, bytes.Split([]byte(wide), []byte("\n")), 2, "no line is folded: %s", wide)
	require.Contains(t, s.value("pd.DataFrame({'n': range(1000)})"), "[1000 rows x 1 columns]")
	require.Equal(t, "array([0., 0.])", s.value("import numpy", "numpy.zeros(2)"))
	require.Equal(t, []workspace.Display{{MIME: "text/plain", Text: "   a  b\n0  1  x\n1  2  y"}}, s.do("display(table)").Report.Displays)
}
