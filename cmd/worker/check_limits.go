package main

import (
	"fmt"
	"time"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// trial is a program that runs into a limit, and what must become of it.
type trial struct {
	name   string
	source string
	limits sandbox.Overrides
	judge  func(sandbox.Result) control
}

// trials run into each limit that a program can reach.
func trials(limits sandbox.Limits) []trial {
	second, half := sandbox.Seconds(time.Second), sandbox.Seconds(time.Second/2)
	written := 2 * limits.Output
	return []trial{
		{
			name:   "limit: memory",
			source: fmt.Sprintf(`x=$(head -c %d /dev/zero | tr '\0' x); echo ${#x}`, 2*limits.Memory),
			judge:  outcomeIs(sandbox.OutcomeOutOfMemory),
		},
		{
			name: "limit: processes",
			source: fmt.Sprintf(`i=0; while [ $i -lt %d ]; do sleep 300 & i=$((i+1)); done`,
				2*limits.PIDs),
			judge: func(r sandbox.Result) control {
				return control{Asked: "refused by the kernel", Found: fmt.Sprintf("%d refused, %s", r.PIDsDenied, r.Outcome), OK: r.PIDsDenied > 0}
			},
		},
		{
			name: "limit: wall time", source: "sleep 30",
			limits: sandbox.Overrides{WallTime: &second},
			judge: func(r sandbox.Result) control {
				took := r.Duration.Duration().Round(10 * time.Millisecond)
				return control{
					Asked: "wall_timeout at 1s", Found: fmt.Sprintf("%s at %s", r.Outcome, took),
					OK: r.Outcome == sandbox.OutcomeWallTimeout && took >= time.Second && took < 2*time.Second,
				}
			},
		},
		{
			name: "limit: CPU time", source: "while :; do :; done",
			limits: sandbox.Overrides{CPUTime: &half},
			judge:  outcomeIs(sandbox.OutcomeCPUTimeout),
		},
		{
			name:   "limit: output",
			source: fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x`, written),
			judge: func(r sandbox.Result) control {
				kept := int64(len(r.Stdout.Data))
				return control{
					Asked: fmt.Sprintf("%s of %s kept", config.Size(limits.Output), config.Size(written)),
					Found: fmt.Sprintf("%s of %s kept", config.Size(kept), config.Size(r.Stdout.Total)),
					OK:    kept == limits.Output && r.Stdout.Total == written,
				}
			},
		},
		{
			name:   "limit: size of /tmp",
			source: fmt.Sprintf(`head -c %d /dev/zero >/tmp/full`, limits.Tmp+sandbox.MiB),
			judge: func(r sandbox.Result) control {
				c := outcomeIs(sandbox.OutcomeDiskFull)(r)
				// Where memory is the scarcer of the two, it is what ends the program.
				c.OK = c.OK || (limits.Tmp >= limits.Memory && r.Outcome == sandbox.OutcomeOutOfMemory)
				return c
			},
		},
	}
}

func outcomeIs(want sandbox.Outcome) func(sandbox.Result) control {
	return func(r sandbox.Result) control { return same("", want, r.Outcome) }
}
