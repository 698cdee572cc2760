package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// shownRefusals bounds the reasons in a note.
const shownRefusals = 3

func (f *facts) networkRefused() bool {
	return f.Result.Network != nil && f.Result.Network.Refused > 0
}

// networkRefused says what the proxy refused, each reason once: programs show it badly or not at all.
func networkRefused(f *facts) string {
	use := f.Result.Network
	var reasons []string
	for _, made := range use.Connections {
		if reason, _ := legible(made.Reason); made.Verdict == sandbox.ConnectionRefused && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	text := fmt.Sprintf("the network refused %d of its connections: ", use.Refused)
	text += strings.Join(reasons[:min(len(reasons), shownRefusals)], "; ")
	if more := len(reasons) - shownRefusals; more > 0 {
		text += fmt.Sprintf(" and for %d more reasons", more)
	}
	return text + ". Only what is named there can be reached, through the proxy that the environment names: do without the rest"
}
