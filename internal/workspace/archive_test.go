package workspace

import (
	"archive/tar"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// entry is one member of an archive that Pack would not make.
type entry struct {
	header  tar.Header
	content string
}

func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var plain bytes.Buffer
	writer := tar.NewWriter(&plain)
	for _, e := range entries {
		if e.header.Typeflag == tar.TypeReg {
			e.header.Size = int64(len(e.content))
		}
		require.NoError(t, writer.WriteHeader(&e.header))
		_, err := writer.Write([]byte(e.content))
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	return compress(t, plain.Bytes())
}

func compress(t testing.TB, plain []byte) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	return encoder.EncodeAll(plain, nil)
}

func TestFilesComeOutAsTheyWentIn(t *testing.T) {
	t.Parallel()
	script := file("run.sh", "#!/bin/sh\n")
	script.Executable = true
	files := []sandbox.File{
		file(" leading and trailing ", "x"), file("-rf", ""), file("a\nb", "newline"), file("naïve/日本.txt", "\x00\xff"),
		script, file(strings.Repeat("d/", 60)+strings.Repeat("n", 255), "deep and long"), file(`back\slash`, "y"), file("zero", strings.Repeat("\x00", 1<<20)),
	}
	slices.SortFunc(files, byPath)
	archive, err := Pack(files)
	require.NoError(t, err)
	require.Less(t, len(archive), 10_000, "it is compressed")
	got, err := Unpack(archive, 1<<21, len(files))
	require.NoError(t, err)
	require.Len(t, got, len(files))
	for i := range files {
		require.Equal(t, files[i].Path, got[i].Path)
		require.Equal(t, files[i].Executable, got[i].Executable, got[i].Path)
		require.True(t, bytes.Equal(files[i].Data, got[i].Data), got[i].Path)
	}
	slices.Reverse(files)
	same, err := Pack(files)
	require.NoError(t, err)
	require.Equal(t, archive, same, "the order does not matter")
	require.Equal(t, strings.Repeat("d/", 60)+strings.Repeat("n", 255), got[slices.IndexFunc(got, func(f sandbox.File) bool { return strings.HasPrefix(f.Path, "d/") })].Path)
}

func TestAnArchiveOfNothing(t *testing.T) {
	t.Parallel()
	archive, err := Pack(nil)
	require.NoError(t, err)
	files, err := Unpack(archive, 0, 0)
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestWhatIsNotOursIsNotUnpacked(t *testing.T) {
	t.Parallel()
	plain := func(name string) entry { return entry{tar.Header{Typeflag: tar.TypeReg, Name: name}, "x"} }
	good := archiveOf(t, plain("a"))
	for name, archive := range map[string][]byte{
		"a path that leaves":    archiveOf(t, plain("../a")),
		"a path that leaves on": archiveOf(t, plain("a/../../b")),
		"an absolute path":      archiveOf(t, plain("/etc/passwd")),
		"a path twice":          archiveOf(t, plain("a"), plain("a")),
		"a file in a file":      archiveOf(t, plain("a"), plain("a/b")),
		"where programs go":     archiveOf(t, plain(sandbox.OutPath)),
		"a link":                archiveOf(t, entry{header: tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc"}}),
		"a hard link":           archiveOf(t, entry{header: tar.Header{Typeflag: tar.TypeLink, Name: "a", Linkname: "b"}}),
		"a folder":              archiveOf(t, entry{header: tar.Header{Typeflag: tar.TypeDir, Name: "a/"}}),
		"a device":              archiveOf(t, entry{header: tar.Header{Typeflag: tar.TypeChar, Name: "a"}}),
		"a FIFO":                archiveOf(t, entry{header: tar.Header{Typeflag: tar.TypeFifo, Name: "a"}}),
		"nothing":               nil,
		"noise":                 []byte("not an archive"),
		"no tar":                compress(t, []byte(strings.Repeat("x", 2000))),
		"cut off":               good[:len(good)-2],
		"a wrong checksum":      append(slices.Clone(good[:len(good)-1]), good[len(good)-1]^1),
	} {
		_, err := Unpack(archive, 1<<20, 10)
		require.ErrorIs(t, err, ErrDamaged, name)
	}
	_, err := Unpack(good, 1<<20, 10)
	require.NoError(t, err)
}

func TestABombDoesNotGoOff(t *testing.T) {
	t.Parallel()
	large := archiveOf(t, entry{tar.Header{Typeflag: tar.TypeReg, Name: "a"}, strings.Repeat("\x00", 64<<20)})
	require.Less(t, len(large), 16<<10)
	_, err := Unpack(large, 1<<20, 10)
	require.ErrorContains(t, err, "is 67108864 bytes, where 1048576 are left")
	var many []entry
	for range 11 {
		many = append(many, entry{tar.Header{Typeflag: tar.TypeReg, Name: strings.Repeat("x", len(many)+1)}, ""})
	}
	_, err = Unpack(archiveOf(t, many...), 1<<20, 10)
	require.ErrorContains(t, err, "more than 10 files")
	_, err = Unpack(archiveOf(t, entry{tar.Header{Typeflag: tar.TypeReg, Name: "a"}, "12345"}, entry{tar.Header{Typeflag: tar.TypeReg, Name: "b"}, "6"}), 5, 10)
	require.ErrorContains(t, err, `"b": is 1 bytes, where 0 are left`)
	// A header that promises much costs only what comes; zeros after the end are bounded as well.
	_, err = Unpack(compress(t, make([]byte, 64<<20)), 1<<10, 1)
	require.NoError(t, err, "an empty archive with a long tail, of which a bounded part is read")
}

func FuzzUnpack(f *testing.F) {
	archive, err := Pack([]sandbox.File{{Path: "a", Data: []byte("content")}, {Path: "dir/b", Executable: true}})
	require.NoError(f, err)
	f.Add(archive)
	f.Add(archiveOf(f, entry{tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: ".."}, ""}))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, archive := range [][]byte{data, compress(t, data)} {
			files, err := Unpack(archive, 1<<16, 16)
			if err != nil {
				require.ErrorIs(t, err, ErrDamaged)
				continue
			}
			require.LessOrEqual(t, len(files), 16)
			require.LessOrEqual(t, size(files), int64(1<<16))
			require.NoError(t, Check(files))
			again, err := Pack(files)
			require.NoError(t, err)
			same, err := Unpack(again, 1<<16, 16)
			require.NoError(t, err)
			slices.SortFunc(files, byPath)
			require.Equal(t, files, same)
		}
	})
}
