package explain

import (
	"fmt"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// size writes bytes for a model: exactly if it is a round number, else to a tenth.
func size(bytes int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{sandbox.GiB, "GiB"}, {sandbox.MiB, "MiB"}, {sandbox.KiB, "KiB"}} {
		switch {
		case bytes >= unit.bytes && bytes%unit.bytes == 0:
			return fmt.Sprintf("%d %s", bytes/unit.bytes, unit.name)
		case bytes >= unit.bytes:
			return fmt.Sprintf("%.1f %s", float64(bytes)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
