package submissions_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/submissions"
)

func TestNamesThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	const bad = " PROBLEM has a name that is not a clean relative path with slashes"
	names := []string{"../up.py", "/etc/passwd", "alice/../../up.py", `..\up.py`, "alice//x.py", "alice/./x.py"}
	files := []file{{"good.py", "g"}}
	for _, name := range names {
		files = append(files, file{name, "x"})
	}
	want := []string{"good: good.py=g"}
	for _, name := range names {
		want = append(want, name+":"+bad)
	}
	require.ElementsMatch(t, want, lines(handedIn(t, submissions.Options{}, writeFile(t, "x.zip", zipOf(t, files...)))))
	require.ElementsMatch(t, want, lines(handedIn(t, submissions.Options{}, writeFile(t, "x.tar", tarOf(t, nil, files...)))))
}

func TestNamesThatCannotBeShown(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "x.tar", tarOf(t, nil, file{"a\x1b[31m.py", "1"}, file{"b\xff.py", "2"}, file{"c/\xff.py", "3"}))
	require.Equal(t, []string{
		"a\uFFFD[31m: a\x1b[31m.py=1", "b\uFFFD: b\xff.py=2", "c/\uFFFD.py: PROBLEM has a name that is not UTF-8",
	}, lines(handedIn(t, submissions.Options{}, path)))
	deep := writeFile(t, "deep.tar", tarOf(t, nil, file{strings.Repeat("d/", 40) + "x.py", "1"}, file{"ok.py", "2"}))
	require.Contains(t, lines(handedIn(t, submissions.Options{}, deep))[0], "PROBLEM lies more than 32 folders deep")
	long := writeFile(t, "long.tar", tarOf(t, nil, file{strings.Repeat("d", 1100), "1"}, file{"ok.py", "2"}))
	require.Contains(t, lines(handedIn(t, submissions.Options{}, long))[0], "PROBLEM has a name of 1100 bytes: want at most 1024")
}

func TestLinksAndDevicesInATarArchive(t *testing.T) {
	t.Parallel()
	const want = ": want files and folders only"
	path := writeFile(t, "x.tar", tarOf(t, []tar.Header{
		{Name: "alice/link.py", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "bob.py", Typeflag: tar.TypeLink, Linkname: "alice/main.py"},
		{Name: "fifo", Typeflag: tar.TypeFifo},
		{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
	}, file{"alice/main.py", "a"}, file{"carol.py", "c"}))
	require.Equal(t, []string{
		"bob: PROBLEM bob.py is a link" + want, "fifo: PROBLEM fifo is a FIFO" + want, "null: PROBLEM null is a device" + want,
		"alice: PROBLEM link.py is a link" + want, "carol: carol.py=c",
	}, lines(handedIn(t, submissions.Options{}, path)))
}

func TestLinksInAZipArchive(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	header := &zip.FileHeader{Name: "alice.py"}
	header.SetMode(fs.ModeSymlink | 0o777)
	w, err := archive.CreateHeader(header)
	require.NoError(t, err)
	_, err = w.Write([]byte("/etc/passwd"))
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	require.Equal(t, []string{"alice: PROBLEM alice.py is a link: want files and folders only"},
		lines(handedIn(t, submissions.Options{}, writeFile(t, "x.zip", out.Bytes()))))
}

func TestLinksAndFIFOsInAFolder(t *testing.T) {
	t.Parallel()
	outside := writeFile(t, "secret.txt", []byte("token"))
	dir := folderOf(t, file{"good.py", "g"}, file{"bob/main.py", "b"})
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "alice.py")))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "bob/loop")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "carol.py"), 0o600))
	const want = ": want files and folders only"
	require.Equal(t, []string{
		"alice: PROBLEM alice.py is a link" + want, "bob: PROBLEM loop is a link" + want, "carol: PROBLEM carol.py is a FIFO" + want, "good: good.py=g",
	}, lines(handedIn(t, submissions.Options{}, dir)))
}

func TestSubmissionsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	many := []file{{"ok.py", "1"}}
	for i := range 1001 {
		many = append(many, file{fmt.Sprintf("many/%04d.py", i), ""})
	}
	many = append(many, file{"large.py", strings.Repeat("x", 11)}, file{"sum/1.py", "123456"}, file{"sum/2.py", "12345"}, file{"fits.py", "1234567890"})
	require.Equal(t, []string{
		"fits: fits.py=1234567890", "large: PROBLEM is larger than 10 bytes", "many: PROBLEM has more than 1000 files",
		"ok: ok.py=1", "sum: PROBLEM is larger than 10 bytes",
	}, lines(handedIn(t, submissions.Options{MaxBytes: 10}, folderOf(t, many...))))
}

func TestAFileThatIsTwiceInAnArchive(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "x.zip", zipOf(t, file{"a/x.py", "1"}, file{"a/x.py", "2"}, file{"b", "3"}, file{"b/x.py", "4"}, file{"c.py", "5"}))
	require.Equal(t, []string{
		"a: PROBLEM holds x.py twice", "b: PROBLEM is both a file and a folder", "c: c.py=5",
	}, lines(handedIn(t, submissions.Options{}, path)))
}

// zeros are 1 MiB that compress to next to nothing.
var zeros = strings.Repeat("\x00", 1<<20)

func TestBombs(t *testing.T) {
	t.Parallel()
	const want = "becomes more than 250 times as large when it is unpacked"
	small := zipOf(t, file{"a.py", zeros})
	inner, err := zip.NewReader(bytes.NewReader(small), int64(len(small)))
	require.NoError(t, err)
	var bomb bytes.Buffer
	archive := zip.NewWriter(&bomb)
	for i := range 70 {
		inner.File[0].Name = fmt.Sprintf("%d.py", i)
		require.NoError(t, archive.Copy(inner.File[0]))
	}
	require.NoError(t, archive.Close())
	require.Contains(t, openError(t, writeFile(t, "x.zip", bomb.Bytes())), want)

	var large bytes.Buffer
	require.NoError(t, tar.NewWriter(&large).WriteHeader(&tar.Header{Name: "a.py", Size: 70 * int64(len(zeros)), Typeflag: tar.TypeReg}))
	packed := gzipOf(t, large.Bytes()) // gzip goes on where one stream ends and another begins
	piece := gzipOf(t, []byte(zeros))
	for range 70 {
		packed = append(packed, piece...)
	}
	require.Contains(t, openError(t, writeFile(t, "x.tgz", packed)), want)
}

func TestSizesThatAreNotTrue(t *testing.T) {
	t.Parallel()
	lying := zipOf(t, file{"a.py", zeros}, file{"b.py", "b"})
	at := bytes.Index(lying, []byte("PK\x01\x02"))
	require.EqualValues(t, 1<<20, binary.LittleEndian.Uint32(lying[at+24:]))
	binary.LittleEndian.PutUint32(lying[at+24:], 5)
	told := lines(handedIn(t, submissions.Options{MaxBytes: 100}, writeFile(t, "x.zip", lying)))
	require.Contains(t, told[0], "a: PROBLEM a.py cannot be read: ")
	require.Equal(t, "b: b.py=b", told[1])
	sparse := tar.Header{Name: "huge.py", Size: 17 << 30, Typeflag: tar.TypeReg, Mode: 0o644}
	var out bytes.Buffer
	require.NoError(t, tar.NewWriter(&out).WriteHeader(&sparse))
	require.Contains(t, openError(t, writeFile(t, "x.tar", out.Bytes())), "holds more than 16 GiB")
}

func TestEncryptedAndBrokenArchives(t *testing.T) {
	t.Parallel()
	secret := zipOf(t, file{"a.py", "1"}, file{"b.py", "2"})
	at := bytes.Index(secret, []byte("PK\x01\x02"))
	secret[at+8] |= 1
	require.Equal(t, []string{"a: PROBLEM a.py is encrypted", "b: b.py=2"}, lines(handedIn(t, submissions.Options{}, writeFile(t, "x.zip", secret))))

	whole := tarOf(t, nil, file{"a.py", "1"}, file{"b.py", strings.Repeat("x", 5000)})
	require.Contains(t, openError(t, writeFile(t, "x.tar", whole[:3000])), "x.tar: unexpected EOF")
	require.Contains(t, openError(t, writeFile(t, "x.tgz", gzipOf(t, whole)[:40])), "x.tgz: unexpected EOF")
	require.Contains(t, openError(t, writeFile(t, "a.py.gz", gzipOf(t, []byte(strings.Repeat("print(1)\n", 200))))), "a.py.gz: is no tar archive in gzip")
	require.Contains(t, openError(t, writeFile(t, "x.zip", []byte("PK\x03\x04 and nothing more"))), "x.zip: zip: not a valid zip file")
	require.Contains(t, openError(t, writeFile(t, "x.rar", []byte("Rar!"))), "x.rar: is no archive that can be read: want zip, tar or tar.gz")
	require.Contains(t, openError(t, filepath.Join(t.TempDir(), "none")), "no such file or directory")
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	require.Contains(t, openError(t, fifo), "is neither a file nor a folder")
}

func TestAListOfFilesThatIsTooLong(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	extra := append([]byte{0x99, 0x99, 0x5c, 0xea}, make([]byte, 59_996)...)
	for i := range 600 { // with 60,000 bytes each more than 32 MiB
		_, err := archive.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i), Extra: extra})
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.Contains(t, openError(t, writeFile(t, "x.zip", out.Bytes())), "list of files is larger than 32 MiB")
}

func TestReadingCanStopAtAnyTime(t *testing.T) {
	t.Parallel()
	set, err := submissions.Open([]string{folderOf(t, file{"a.py", "1"}, file{"b.py", "2"})}, submissions.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	count := 0
	for _, err := range set.All() {
		require.NoError(t, err)
		count++
		break
	}
	require.Equal(t, 1, count)
}
