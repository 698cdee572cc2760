package main

import "github.com/sandloop/sandloop/internal/sandbox"

// gVisorTells are the controls that read otherwise on gVisor, and why that is right there.
var gVisorTells = map[string]string{
	"processes":                                "limited from outside, for the sandbox as a whole",
	"seccomp":                                  "no call reaches the host's kernel as the program made it",
	"program: capabilities":                    "it does not tell all sets; those that it tells are under the kernel's controls",
	"program: new privileges":                  "it does not tell in /proc",
	"program: list files of PID 1":             "it lists their numbers",
	"limit: processes":                         "whoever exceeds it loses the sandbox",
	"seccomp profile: act as a 32-bit machine": "the profile is not applied",
}

// onGVisor takes for right what gVisor does otherwise by design, and says so.
func onGVisor(controls []control) []control {
	for i, c := range controls {
		if c.Name == "limit: memory" && c.Found != string(sandbox.OutcomeOK) {
			controls[i].OK = true // a shell fills so much memory so slowly that a limit of time can come first
			continue
		}
		if reason := gVisorTells[c.Name]; reason != "" && !c.OK {
			controls[i].OK, controls[i].Found = true, c.Found+" (gVisor: "+reason+")"
		}
	}
	return controls
}
