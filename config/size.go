package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/docker/go-units"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Size is a number of bytes. It is written as a plain number or with a binary unit: 256MiB, 1.5GiB.
type Size int64

// ParseSize reads a size; KB and KiB both mean 1024 bytes.
func ParseSize(text string) (Size, error) {
	bytes, err := units.RAMInBytes(strings.TrimSpace(text))
	if err != nil || bytes < 0 { // below 0 is what did not fit
		return 0, fmt.Errorf("%q is not a size: want one such as 256MiB", text)
	}
	return Size(bytes), nil
}

// String writes the size with the largest binary unit that keeps it exact.
func (s Size) String() string {
	unit := []struct {
		name  string
		bytes int64
	}{{"GiB", sandbox.GiB}, {"MiB", sandbox.MiB}, {"KiB", sandbox.KiB}}
	for _, u := range unit {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
