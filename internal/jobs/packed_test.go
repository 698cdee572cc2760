package jobs

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// small is a content of which tests reach the bounds without taking much memory.
var small = content{"the thing", 1 << 20}

func TestPackedDataComesBackAsItWas(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 1<<20)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	for _, data := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("a"), 4096), bytes.Repeat([]byte("a"), 4097), noise} {
		packed := pack(data)
		plain, err := small.unpack(packed)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, plain), "%d bytes", len(data))
	}
}

func TestOnlyLargeDataIsCompressed(t *testing.T) {
	t.Parallel()
	small, large := pack(bytes.Repeat([]byte("a"), 4096)), pack(bytes.Repeat([]byte("a"), 4097))
	require.Equal(t, byte('j'), small[0])
	require.Len(t, small, 4097)
	require.Equal(t, byte('z'), large[0])
	require.Less(t, len(large), 100)
}

func TestUnpackRefusesWhatWasNotPacked(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{nil, []byte("x{}"), []byte("z"), []byte("znot zstd"), pack(bytes.Repeat([]byte("a"), 9999))[:20]} {
		_, err := small.unpack(data)
		require.Error(t, err, "%q", data)
	}
}

func TestOneByteTooManyIsRefused(t *testing.T) {
	t.Parallel()
	just, over := bytes.Repeat([]byte("a"), 1<<20), bytes.Repeat([]byte("a"), 1<<20+1)
	for _, packed := range [][]byte{pack(just), append([]byte{'j'}, just...)} {
		plain, err := small.unpack(packed)
		require.NoError(t, err)
		require.Len(t, plain, 1<<20)
	}
	for _, packed := range [][]byte{pack(over), append([]byte{'j'}, over...)} {
		_, err := small.unpack(packed)
		require.EqualError(t, err, "no such value is stored here: the thing is 1048577 bytes: want at most 1048576")
	}
	_, err := small.unpack(append([]byte{'j'}, make([]byte, 1<<20+1<<16)...))
	require.EqualError(t, err, "no such value is stored here: the thing takes 1114113 bytes as it is stored: want at most 1114112")
}

// The numbers are those of the limits: config has the same ones.
func TestWhatEachKindCanBe(t *testing.T) {
	t.Parallel()
	require.Equal(t, 268_435_456, jobContent.max)
	require.Equal(t, 536_870_912, resultContent.max)
	require.Equal(t, 134_217_728, blobContent.max)
	require.Equal(t, MaxBodyLimit, NewClient(nil, ClientOptions{BodyLimit: MaxBodyLimit + 1}).bodyLimit)
	require.Equal(t, DefaultBodyLimit, NewClient(nil, ClientOptions{}).bodyLimit)
}

// frame is a frame of zstd by hand: blocks of 128 KiB of one letter, four bytes each. A size of -1 is not told.
func frame(size int64, blocks int, letter byte) []byte {
	data := []byte{0x28, 0xb5, 0x2f, 0xfd}
	if size < 0 {
		data = append(data, 0x00, 12<<3) // a window of 4 MiB
	} else {
		data = binary.LittleEndian.AppendUint32(append(data, 0xa0), uint32(size))
	}
	for i := range blocks {
		header := uint32(128<<10)<<3 | 1<<1
		if i == blocks-1 {
			header |= 1
		}
		data = append(data, byte(header), byte(header>>8), byte(header>>16), letter)
	}
	return data
}

// taken is how many bytes of memory do takes, freed or not.
func taken(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// None of these is parallel, since they look at the memory of the whole process.
func TestABombIsRefusedBeforeMemoryIsTakenForIt(t *testing.T) { //nolint:paralleltest // see above
	honest := frame(128<<10, 1, ' ')
	plain, err := small.unpack(append([]byte{'z'}, honest...)) // and the decoder is there
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(" ", 128<<10), string(plain))
	for _, kind := range []content{jobContent, resultContent, blobContent} {
		over := int64(kind.max) + 1
		for name, bomb := range map[string]struct {
			frame []byte
			want  string
		}{
			"1 GiB of 32 KiB":            {frame(1<<30, 8192, ' '), "no such value is stored here: " + kind.name + " is 1073741824 bytes: want at most "},
			"a byte more than allowed":   {frame(over, kind.max>>17+1, ' '), fmt.Sprintf("%s is %d bytes: want at most %d", kind.name, over, kind.max)},
			"a size that is not told":    {frame(-1, 8192, ' '), kind.name + " does not tell its size"},
			"a size that cannot be true": {frame(100<<20, 10, ' '), "tells a size of 104857600 bytes, where 49 bytes of zstd become at most 1572864"},
			"more than was told":         {frame(5000, 8192, ' '), "unpack: "},
			"a second frame":             {append(bytes.Clone(honest), frame(1<<30, 8192, ' ')...), "unpack: "},
			"a second one that is quiet": {append(bytes.Clone(honest), frame(-1, 8192, ' ')...), "unpack: "},
			"a frame that is skipped":    {append([]byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 'x'}, honest...), "does not tell its size"},
		} {
			var err error
			used := taken(func() { _, err = kind.unpack(append([]byte{'z'}, bomb.frame...)) })
			require.ErrorContains(t, err, bomb.want, name)
			require.Less(t, used, uint64(1<<20), name)
		}
	}
}

func TestTheHeadOfABodyIsNoBomb(t *testing.T) { //nolint:paralleltest // see above
	raw := func(text string) []byte { // a frame of 1 GiB that begins with text
		header := uint32(len(text)) << 3
		block := append([]byte{byte(header), byte(header >> 8), byte(header >> 16)}, text...)
		whole := frame(-1, 8192, 'a')
		return append(append(append([]byte{'z'}, whole[:6]...), block...), whole[6:]...)
	}
	require.Equal(t, "python", bodyLanguage(string(raw(`{"program":{"language":"python","source":"`))))
	for name, head := range map[string]string{
		"a string of 1 GiB before it": string(raw(`{"tenant":"`)),
		"the same plain":              `j{"tenant":"` + strings.Repeat("a", 100<<10) + `","program":{"language":"python"}}`,
		"a window of 512 MiB":         "z\x28\xb5\x2f\xfd\x00" + string(rune(19 << 3))[1:] + string(raw(`{"program":{"language":"python"`)[7:]),
	} {
		var language string
		used := taken(func() { language = bodyLanguage(head) })
		require.Empty(t, language, name)
		require.Less(t, used, uint64(16<<20), name)
	}
}

// A job with the default maxima that fills each of them, with what cannot be text, and in a compile step too. A 16th of it is measured, and as much as
// the whole is unpacked.
func TestTheLargestResultIsKeptWhole(t *testing.T) {
	t.Parallel()
	limits := sandbox.DefaultMaxima()
	stream := sandbox.NewStream(bytes.Repeat([]byte{0xff}, int(limits.Output/16)), nil, limits.Output/16)
	end := ending{Result: sandbox.Result{
		Outcome: sandbox.OutcomeOK, OK: true, Stdout: stream, Stderr: stream, Compile: &sandbox.Step{Stdout: stream, Stderr: stream},
		Files: []sandbox.File{{Path: "a", Data: bytes.Repeat([]byte{0xff}, int(limits.FileBytes/16))}},
	}}
	for range 100 { // sandbox-init tells of no more
		end.RefusedFiles = append(end.RefusedFiles, sandbox.RefusedFile{Path: strings.Repeat("<", 1024/16), Reason: strings.Repeat("r", 8192/16)})
	}
	kept, packed := end.storable()
	require.Equal(t, end, kept)
	plain, err := resultContent.unpack(packed)
	require.NoError(t, err)
	// Base64 makes 4 of 3 bytes, JSON six of each <.
	require.InDelta(t, (4*8<<20+68<<20)/16/3*4+100*(6*64+512), len(plain), 20_000)
	whole := 16 * len(plain)
	require.Less(t, whole, resultContent.max/3)
	plain, err = resultContent.unpack(pack(make([]byte, whole)))
	require.NoError(t, err)
	require.Len(t, plain, whole)
}

// 20,000 tests with the longest names, of letters that JSON makes six bytes of. A twentieth of them is measured.
func TestTheLargestReportIsKept(t *testing.T) {
	t.Parallel()
	report := grade.Report{Verdict: grade.WA}
	for range 1000 {
		report.Tests = append(report.Tests, grade.TestReport{Name: strings.Repeat("<", 1024), Finding: grade.Finding{Verdict: grade.WA}, Key: strings.Repeat("0", 32)})
	}
	_, packed := ending{Grade: &report}.storable()
	plain, err := resultContent.unpack(packed)
	require.NoError(t, err)
	require.Less(t, 20*len(plain)+maxReport, resultContent.max/3)
}

func TestAResultThatIsTooLargeLosesWhatTheProgramWrote(t *testing.T) {
	t.Parallel()
	stream := sandbox.NewStream(bytes.Repeat([]byte("x"), 1000), nil, 5000)
	end := ending{Result: sandbox.Result{
		Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3, Message: "exited with code 3", Stdout: stream,
		Files: []sandbox.File{{Path: "a", Data: bytes.Repeat([]byte("x"), 1000)}}, Compile: &sandbox.Step{Stderr: stream},
	}}
	whole, _ := end.storableWithin(10_000)
	require.Equal(t, end, whole)

	kept, packed := end.storableWithin(2000)
	back, err := decodeEnding("x", packed)
	require.NoError(t, err)
	require.Equal(t, kept, back)
	require.Equal(t, sandbox.OutcomeNonzeroExit, back.Outcome)
	require.Equal(t, 3, back.ExitCode)
	require.Equal(t, sandbox.Stream{Data: sandbox.Bytes{}, Total: 5000, Truncated: true}, back.Stdout)
	require.Equal(t, sandbox.Stream{Data: sandbox.Bytes{}}, back.Stderr)
	require.EqualValues(t, 5000, back.Compile.Stderr.Total)
	require.Empty(t, back.Files)
	require.Regexp(t, "^exited with code 3; outputs and files are not kept, since the result is [0-9]{4} bytes with them: at most 2000 are kept$", back.Message)
	require.Len(t, end.Compile.Stderr.Data, 1000, "the caller's own is not changed")

	end.Message = strings.Repeat("m", 3000)
	kept, packed = end.storableWithin(2000)
	require.Equal(t, sandbox.OutcomeRejected, kept.Outcome)
	require.Regexp(t, "cannot be written in JSON: [0-9]{4} bytes are too many: want at most 2000$", kept.Message)
	back, err = decodeEnding("x", packed)
	require.NoError(t, err)
	require.Equal(t, kept.Message, back.Message)
}

// Whoever can write to Redis puts something in the place of a body or a result.
func TestForgedValuesEndTheirJobAtOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		bomb := append([]byte{'z'}, frame(1<<30, 8192, ' ')...)
		id := b.submit(job("1"))
		require.NoError(t, b.rdb.Set(b.ctx, b.client.store.keys.body(id), bomb, 0).Err())
		b.start(echoRunner{})
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		require.Len(t, record.Attempts, 1, "another attempt would find the same")
		require.Contains(t, record.Result.Message, "the job is 1073741824 bytes: want at most 268435456")
		_, _, err := b.client.DeadLetter(b.ctx, id)
		require.ErrorContains(t, err, "the job is 1073741824 bytes: want at most 268435456")

		id = b.submit(job("2"))
		b.await(id)
		require.NoError(t, b.rdb.Set(b.ctx, b.client.store.keys.result(id), bomb, 0).Err())
		_, err = b.client.Result(b.ctx, id)
		require.ErrorContains(t, err, "the result is 1073741824 bytes: want at most 536870912")
	})
}

func TestABodyThatIsLargerThanAnyIsNotRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.submit(job("1"))
	const most = 256<<20 + 16<<20
	first, err := b.client.store.readRest(b.ctx, id, "all of it")
	require.NoError(t, err)
	require.Equal(t, "all of it", first)
	require.NoError(t, b.rdb.SetRange(b.ctx, b.client.store.keys.body(id), most, "x").Err())
	_, err = b.client.store.readRest(b.ctx, id, strings.Repeat("x", bodyPiece))
	require.ErrorIs(t, err, errOversized)
	require.ErrorContains(t, err, "read body of job "+id+": no such value is stored here: the job takes 285212673 bytes as it is stored: want at most 285212672")

	runner := newFakeRunner()
	b.start(runner)
	require.Contains(t, b.await(id).Result.Message, "the job takes 285212673 bytes as it is stored")
	require.Empty(t, runner.runs)
}

// FuzzPacked unpacks any bytes: never more than is allowed, and what comes out can be packed again.
func FuzzPacked(f *testing.F) {
	f.Add(pack([]byte("small")))
	f.Add(pack(bytes.Repeat([]byte("large "), 1000)))
	f.Add(append([]byte{'z'}, frame(1<<20, 8, ' ')...))
	f.Add(append([]byte{'z'}, frame(-1, 2, ' ')...))
	f.Add(append([]byte{'z'}, append(frame(128<<10, 1, ' '), frame(128<<10, 1, ' ')...)...))
	f.Fuzz(func(t *testing.T, stored []byte) {
		plain, err := small.unpack(stored)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(plain), small.max)
		again, err := small.unpack(pack(plain))
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain, again))
		bodyLanguage(string(stored))
	})
}
