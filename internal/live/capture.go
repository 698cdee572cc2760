package live

import "github.com/sandloop/sandloop/internal/sandbox"

// capture keeps the first half of limit bytes of a stream and the last, and counts everything.
type capture struct {
	head, tail []byte
	limit      int64
	total      int64
}

// write returns the part of data that belongs to the head.
func (c *capture) write(data []byte) []byte {
	c.total += int64(len(data))
	headSize := int((c.limit + 1) / 2)
	kept := data[:min(len(data), headSize-len(c.head))]
	c.head = append(c.head, kept...)
	tailSize := int(c.limit) - headSize
	c.tail = append(c.tail, data[len(kept):]...)
	if len(c.tail) > 2*tailSize { // so that each byte is moved about once
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-tailSize:]...)
	}
	return kept
}

func (c *capture) stream() sandbox.Stream {
	tailSize := int(c.limit / 2)
	return sandbox.NewStream(c.head, c.tail[max(0, len(c.tail)-tailSize):], c.total)
}
