package supervisor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryThatIsHeldLeavesOutWhatTheKernelCanDrop(t *testing.T) {
	t.Parallel()
	files := version2()
	files["memory.current"] = "90000000\n"
	files["memory.stat"] = "anon 1\nfile 2\ninactive_file 20000000\nactive_file 5000000\n"
	group, err := findCgroup(fixture(t, files))
	require.NoError(t, err)
	held, err := group.memoryHeld()
	require.NoError(t, err)
	require.EqualValues(t, 65_000_000, held)

	e := &emptiness{clean: &cleaner{group: group}, memory: 65_000_000 - memorySlack}
	left, err := e.memoryLeft()
	require.NoError(t, err)
	require.Empty(t, left)
	e.memory--
	left, err = e.memoryLeft()
	require.NoError(t, err)
	require.Equal(t, "memory of 65000000 bytes where 48222783 were in use", left)

	delete(files, "memory.stat")
	group, err = findCgroup(fixture(t, files))
	require.NoError(t, err)
	_, err = group.memoryHeld()
	require.ErrorContains(t, err, "memory.stat")
}

func TestPostureThatDiffersIsNamed(t *testing.T) {
	t.Parallel()
	threads, err := threadIDs()
	require.NoError(t, err)
	was, err := readPosture(threads[:1]) // others may end
	require.NoError(t, err)
	require.Contains(t, was.lines, "Umask:\t0022\n")
	require.NotZero(t, was.limits[7].Max, "open files")
	require.NoError(t, was.compare(was))
	for want, change := range map[string]func(*posture){
		`has "Umask:\t0000\n": had "Umask:`:  func(p *posture) { p.lines = append([]string{"Umask:\t0000\n"}, p.lines[1:]...) },
		"has other lines":                    func(p *posture) { p.lines = p.lines[1:] },
		"has resource limit 7 at {3 3}: had": func(p *posture) { p.limits[7].Cur, p.limits[7].Max = 3, 3 },
		"has scheduling {thread:":            func(p *posture) { p.threads[0].priority++ },
	} {
		now := was
		now.threads = append([]scheduling{}, was.threads...)
		change(&now)
		require.ErrorContains(t, was.compare(now), want)
	}
}
