package main

import (
	_ "embed" // for probe.sh
	"strings"

	"github.com/sandloop/sandloop/config"
)

//go:embed probe.sh
var probeScript string

// attempts are what probe.sh tries, and whether a program may.
var attempts = []struct {
	fact  string
	asked string
}{
	{"write to /", "refused"},
	{"write to /etc", "refused"},
	{"write to /usr/bin", "refused"},
	{"write to sandbox-init", "refused"},
	{"write to /tmp", "allowed"},
	{"write to /workspace", "allowed"},
	{"execute in /tmp", "refused"},
	{"execute in /workspace", "allowed"},
	{"read /etc/shadow", "refused"},
	{"read /proc/kcore", "refused"},
	{"read environment of PID 1", "refused"},
	{"list files of PID 1", "refused"},
	{"open files of PID 1", "refused"},
	{"change kernel settings", "refused"},
	{"write to /sys", "refused"},
	{"mount a file system", "refused"},
	{"make a device node", "refused"},
	{"give a file to root", "refused"},
	{"see Docker's socket", "refused"},
	{"connect to the internet", "refused"},
	{"connect to the host", "refused"},
}

// everyID is the real, effective, saved and file system id.
const everyID = "65534 65534 65534 65534"

// optional are attempts for which an image may lack the tools.
var optional = map[string]bool{"connect to the internet": true, "connect to the host": true}

// hostControls compare what the host is said to confine sandboxes with to what a program sees of it.
func hostControls(output string, host hostReport) (controls []control) {
	facts := readFacts(output)
	byProfile := map[string]string{profileName(""): "refused", profileName(config.DockerSeccomp): "allowed"}
	if asked := byProfile[host.Seccomp]; asked != "" && facts["act as a 32-bit machine"] != nil {
		controls = append(controls, same("seccomp profile: act as a 32-bit machine", asked, only(facts["act as a 32-bit machine"])))
	}
	if host.AppArmor {
		controls = append(controls, same("program: AppArmor", "docker-default (enforce)", appArmor(only(facts["apparmor"]))))
	}
	if host.UserNamespace || host.Rootless {
		root := "nobody"
		if outside := only(facts["root outside"]); outside == "0" || outside == "unknown" {
			root = "root or " + outside
		}
		controls = append(controls, same("program: root inside is outside", "nobody", root))
	}
	return controls
}

// appArmor says what helps where Docker names AppArmor, as it does wherever the kernel has it, and cannot load its
// profile, since what loads it is not installed.
func appArmor(found string) string {
	if found == "unconfined" {
		return "unconfined: install apparmor on the host and restart Docker"
	}
	return found
}

func readFacts(output string) map[string][]string {
	facts := map[string][]string{}
	for _, line := range strings.Split(output, "\n") {
		if key, value, found := strings.Cut(line, "="); found {
			facts[key] = append(facts[key], value)
		}
	}
	return facts
}

// probeControls reads what probe.sh wrote. environ is the worker's own environment, of which
// nothing may be seen inside.
func probeControls(output string, environ []string) []control {
	facts := readFacts(output)
	var controls []control
	for _, attempt := range attempts {
		if optional[attempt.fact] && facts[attempt.fact] == nil {
			continue
		}
		controls = append(controls, same("program: "+attempt.fact, attempt.asked, only(facts[attempt.fact])))
	}
	return append(controls,
		same("program: user", everyID, spaced(only(facts["status Uid:"]))),
		same("program: group", everyID, spaced(only(facts["status Gid:"]))),
		same("program: capabilities", "none", capabilities(capabilitySets(facts))),
		same("program: new privileges", "1", only(facts["status NoNewPrivs:"])),
		same("program: seccomp", "2", only(facts["status Seccomp:"])),
		same("program: block devices", "none", listed(facts["block device"])),
		same("program: network interfaces", "none", listed(facts["interface"])),
		same("program: variables of the worker", "none", listed(leaked(facts["env"], environ))),
	)
}

func only(values []string) string {
	if len(values) != 1 {
		return "unknown"
	}
	return values[0]
}

func spaced(value string) string { return strings.Join(strings.Fields(value), " ") }

// capabilitySets joins the five sets; one that is missing makes the whole unknown.
func capabilitySets(facts map[string][]string) (all string) {
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		values := facts["status "+set+":"]
		if len(values) != 1 {
			return ""
		}
		all += values[0]
	}
	return all
}

// leaked are the names of variables that the program has with the worker's own value. Those
// that say the same in every process are no leak.
func leaked(inside, outside []string) (names []string) {
	mine := map[string]bool{}
	for _, variable := range outside {
		mine[variable] = true
	}
	for _, variable := range inside {
		name, value, _ := strings.Cut(variable, "=")
		if !mine[variable] || value == "" || ordinary[name] {
			continue
		}
		names = append(names, name)
	}
	return names
}

var ordinary = map[string]bool{"PATH": true, "LANG": true, "LC_ALL": true, "HOME": true, "PWD": true, "SHLVL": true, "TERM": true, "_": true, "TZ": true}
