package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keySlot is the slot of a key in a Redis Cluster, written from its specification:
// CRC16/XMODEM of the hash tag, modulo 16384.
func keySlot(key string) uint16 {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if length := strings.IndexByte(key[open+1:], '}'); length > 0 {
			key = key[open+1 : open+1+length]
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}

func TestKeysOfOneJobShareASlot(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 12739, keySlot("123456789"), "the check value of the specification, 0x31C3")
	for _, prefix := range []string{"sandloop", "other"} {
		k := keys{prefix: prefix}
		for _, id := range []string{newID(), KeyedID("a", "b"), "x"} {
			for _, key := range append(k.job(id), k.output(id)) {
				require.Equal(t, keySlot(id), keySlot(key), key)
			}
		}
	}
}

func TestInstallationsThatShareARedisShareNoKey(t *testing.T) {
	t.Parallel()
	a, b := keys{prefix: "a"}, keys{prefix: "b"}
	for _, pair := range [][2]string{
		{a.workers(), b.workers()},
		{a.worker("x"), b.worker("x")},
		{a.state("x"), b.state("x")},
		{a.asynqQueue(Batch), b.asynqQueue(Batch)},
		{a.hostQueue("x"), b.hostQueue("x")},
		{a.wakeChannel(Batch), b.wakeChannel(Batch)},
	} {
		require.NotEqual(t, pair[0], pair[1])
	}
}
