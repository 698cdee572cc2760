package sandbox_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func ptr[T any](v T) *T { return &v }

func TestNothingAskedIsTheDefault(t *testing.T) {
	t.Parallel()
	limits, err := sandbox.Overrides{}.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
	require.NoError(t, err)
	require.Equal(t, sandbox.DefaultLimits(), limits)
}

func TestDefaultsArePinned(t *testing.T) {
	t.Parallel()
	require.Equal(t, sandbox.Limits{
		Memory: 268435456, CPUs: 0.5, PIDs: 64, WallTime: 30e9, CPUTime: 30e9, CompileTime: 30e9,
		Output: 65536, OutputKill: 0, Tmp: 67108864, Workspace: 134217728, OpenFiles: 1024,
		FilesIn: 1000, InputBytes: 33554432, FilesOut: 100, FileBytes: 16777216,
	}, sandbox.DefaultLimits())
}

func TestWhatIsAskedCounts(t *testing.T) {
	t.Parallel()
	limits, err := sandbox.Overrides{
		Memory: ptr(int64(512 << 20)), CPUs: ptr(2.0), PIDs: ptr(100), WallTime: ptr(sandbox.Seconds(5e9)),
		CPUTime: ptr(sandbox.Seconds(4e9)), CompileTime: ptr(sandbox.Seconds(60e9)), Output: ptr(int64(1000)),
		OutputKill: ptr(int64(2000)), Tmp: ptr(int64(4096)), Workspace: ptr(int64(8192)), OpenFiles: ptr(int64(64)),
		FilesIn: ptr(2), InputBytes: ptr(int64(77)), FilesOut: ptr(3), FileBytes: ptr(int64(99)),
	}.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
	require.NoError(t, err)
	require.Equal(t, sandbox.Limits{
		Memory: 536870912, CPUs: 2, PIDs: 100, WallTime: 5e9, CPUTime: 4e9, CompileTime: 60e9, Output: 1000, OutputKill: 2000,
		Tmp: 4096, Workspace: 8192, OpenFiles: 64, FilesIn: 2, InputBytes: 77, FilesOut: 3, FileBytes: 99,
	}, limits)
}

func TestCPUTimeFollowsTheWallTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked sandbox.Overrides
		want  time.Duration
	}{
		"longer wall, half a processor": {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(120e9))}, 121 * time.Second},
		"two processors":                {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(10e9)), CPUs: ptr(2.0)}, 22 * time.Second},
		"up to the maximum":             {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(900e9)), CPUs: ptr(4.0)}, time.Hour},
		"own value":                     {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(120e9)), CPUTime: ptr(sandbox.Seconds(1e9))}, time.Second},
		"only processors":               {sandbox.Overrides{CPUs: ptr(4.0)}, 124 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits, err := test.asked.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
			require.NoError(t, err)
			require.Equal(t, test.want, limits.CPUTime)
		})
	}
}

func TestNoNumberMeansForEver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked sandbox.Overrides
		field string
	}{
		"memory 0":           {sandbox.Overrides{Memory: ptr(int64(0))}, "memory_bytes"},
		"memory -1":          {sandbox.Overrides{Memory: ptr(int64(-1))}, "memory_bytes"},
		"memory tiny":        {sandbox.Overrides{Memory: ptr(int64(32<<20 - 1))}, "memory_bytes"},
		"memory huge":        {sandbox.Overrides{Memory: ptr(int64(4<<30 + 1))}, "memory_bytes"},
		"cpus 0":             {sandbox.Overrides{CPUs: ptr(0.0)}, "cpus"},
		"cpus -1":            {sandbox.Overrides{CPUs: ptr(-1.0)}, "cpus"},
		"cpus NaN":           {sandbox.Overrides{CPUs: ptr(math.NaN())}, "cpus"},
		"cpus infinite":      {sandbox.Overrides{CPUs: ptr(math.Inf(1))}, "cpus"},
		"cpus huge":          {sandbox.Overrides{CPUs: ptr(4.1)}, "cpus"},
		"pids 0":             {sandbox.Overrides{PIDs: ptr(0)}, "pids"},
		"pids -1":            {sandbox.Overrides{PIDs: ptr(-1)}, "pids"},
		"wall 0":             {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(0))}, "wall_seconds"},
		"wall negative":      {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(-1e9))}, "wall_seconds"},
		"wall below 10 ms":   {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(9e6))}, "wall_seconds"},
		"wall over maximum":  {sandbox.Overrides{WallTime: ptr(sandbox.Seconds(901e9))}, "wall_seconds"},
		"cpu time 0":         {sandbox.Overrides{CPUTime: ptr(sandbox.Seconds(0))}, "cpu_seconds"},
		"compile time 0":     {sandbox.Overrides{CompileTime: ptr(sandbox.Seconds(0))}, "compile_seconds"},
		"output 0":           {sandbox.Overrides{Output: ptr(int64(0))}, "output_bytes"},
		"output kill 0":      {sandbox.Overrides{OutputKill: ptr(int64(0))}, "output_kill_bytes"},
		"tmp 0":              {sandbox.Overrides{Tmp: ptr(int64(0))}, "tmp_bytes"},
		"workspace -1":       {sandbox.Overrides{Workspace: ptr(int64(-1))}, "workspace_bytes"},
		"open files 0":       {sandbox.Overrides{OpenFiles: ptr(int64(0))}, "open_files"},
		"files out 0":        {sandbox.Overrides{FilesOut: ptr(0)}, "files_out"},
		"file bytes too big": {sandbox.Overrides{FileBytes: ptr(int64(68<<20 + 1))}, "file_bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.asked.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
			var refused *sandbox.LimitError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, test.field, refused.Field)
		})
	}
}

func TestEveryRefusedLimitIsNamed(t *testing.T) {
	t.Parallel()
	_, err := sandbox.Overrides{Memory: ptr(int64(-1)), PIDs: ptr(0)}.Resolve(sandbox.DefaultLimits(), sandbox.DefaultMaxima())
	require.ErrorContains(t, err, "limits.memory_bytes: -1 is not allowed: want 33554432 to 4294967296")
	require.ErrorContains(t, err, "limits.pids: 0 is not allowed: want 1 to 1024")
}
