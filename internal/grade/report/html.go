package report

import (
	"errors"
	"io"
	"iter"
)

// WriteHTML writes one self-contained page. It ranges over the items once and stops at their
// first error, which it returns before it has written anything.
func WriteHTML(_ io.Writer, _ iter.Seq2[Item, error], _ Options) error {
	return errors.New("HTML is not written yet")
}
