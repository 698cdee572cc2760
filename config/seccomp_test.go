package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
)

// goneCalls are the system calls that a container without capabilities has under Docker's default profile, and not under ours.
var goneCalls = map[string][]string{
	// Reading, changing and steering other processes.
	"tracing": {"process_mrelease", "process_vm_readv", "process_vm_writev", "ptrace"},
	// Its contexts are counted for the whole host, so that one sandbox can take all.
	"asynchronous input and output": {
		"io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_pgetevents_time64", "io_setup", "io_submit",
	},
	// It writes out what every program of the host has in its cache, at the price of all of them.
	"the host's disks": {"sync"},
	// Handles that outlive names, and what is mounted.
	"file systems": {"fanotify_mark", "listmount", "name_to_handle_at", "statmount"},
	// Memory that the kernel cannot move or map as it wants, and ways to it that were holes before.
	"memory": {"memfd_secret", "modify_ldt", "remap_file_pages", "vmsplice"},
	// They set it only for root, and tell only what a daemon for the time wants to know.
	"the clock": {"adjtimex", "clock_adjtime", "clock_adjtime64"},
	// Of 32-bit programs, which cannot run; it would go around the filter of socket.
	"32 bits": {"arm_fadvise64_64", "arm_sync_file_range", "breakpoint", "cacheflush", "set_tls", "socketcall", "sync_file_range2"},
	// Not in Linux any more, or on another processor.
	"nothing": {"epoll_ctl_old", "epoll_wait_old", "riscv_hwprobe"},
}

// narrowedCalls are those of which ours allows only some arguments: 0 to 5 are the arguments, & a mask.
var narrowedCalls = map[string][]string{
	"socket": {
		"0=1", "0=10 1&15=1 2=0", "0=10 1&15=1 2=6", "0=10 1&15=2 2=0", "0=10 1&15=2 2=17", "0=16 2=0",
		"0=2 1&15=1 2=0", "0=2 1&15=1 2=6", "0=2 1&15=2 2=0", "0=2 1&15=2 2=17",
	},
	"socketpair":  {"0=1"},
	"prlimit64":   {"0=0"},
	"personality": {"0=0", "0=4294967295"},
}

// rulesOf lists for each call under which arguments it is allowed in a container without capabilities on amd64 or arm64. Calls with
// another action than to be allowed are left out.
func rulesOf(t *testing.T, profile *seccomp.Seccomp) map[string][]string {
	t.Helper()
	rules := map[string][]string{}
	for _, call := range profile.Syscalls {
		in := call.Includes
		if call.Action != specs.ActAllow || (in != nil && (len(in.Caps) > 0 || !ours(in.Arches))) {
			continue
		}
		var conditions []string
		for _, arg := range call.Args {
			conditions = append(conditions, conditionOf(t, arg))
		}
		for _, name := range call.Names {
			rules[name] = append(rules[name], strings.Join(conditions, " "))
		}
	}
	for name := range rules {
		slices.Sort(rules[name])
		rules[name] = slices.Compact(rules[name])
	}
	return rules
}

func ours(arches []string) bool {
	return len(arches) == 0 || slices.Contains(arches, "amd64") || slices.Contains(arches, "arm64")
}

func conditionOf(t *testing.T, arg specs.LinuxSeccompArg) string {
	t.Helper()
	switch arg.Op {
	case specs.OpEqualTo:
		return fmt.Sprintf("%d=%d", arg.Index, arg.Value)
	case specs.OpMaskedEqual:
		return fmt.Sprintf("%d&%d=%d", arg.Index, arg.Value, arg.ValueTwo)
	case specs.OpLessThan:
		return fmt.Sprintf("%d<%d", arg.Index, arg.Value)
	}
	require.Fail(t, "unknown operator", string(arg.Op))
	return ""
}

func builtInProfile(t *testing.T) *seccomp.Seccomp {
	t.Helper()
	profile := &seccomp.Seccomp{}
	require.NoError(t, json.Unmarshal(builtInSeccomp, profile))
	return profile
}

// A new release of Docker's profile shows here what it has that ours has not.
func TestTheProfileIsDockersWithoutWhatIsListedHere(t *testing.T) {
	t.Parallel()
	dockers, own := rulesOf(t, seccomp.DefaultProfile()), rulesOf(t, builtInProfile(t))
	var gone []string
	narrowed := map[string][]string{}
	for name, rules := range dockers {
		switch {
		case own[name] == nil:
			gone = append(gone, name)
		case !slices.Equal(own[name], rules):
			narrowed[name] = own[name]
		}
	}
	require.ElementsMatch(t, slices.Concat(slices.Collect(maps.Values(goneCalls))...), gone)
	require.Equal(t, narrowedCalls, narrowed)
	for name := range own {
		require.Contains(t, dockers, name, "Docker does not allow it")
	}
	require.Equal(t, []string{"0&2114060288=0"}, own["clone"], "no flag that makes a namespace: %#x", 2114060288)
	require.Equal(t, []string{""}, own["arch_prctl"])
}

func TestTheProfileRefusesAndHasNo32Bits(t *testing.T) {
	t.Parallel()
	profile := builtInProfile(t)
	require.Equal(t, specs.ActErrno, profile.DefaultAction)
	require.EqualValues(t, 1, *profile.DefaultErrnoRet, "EPERM")
	require.Equal(t, []seccomp.Architecture{
		{Arch: specs.ArchX86_64, SubArches: []specs.Arch{}}, {Arch: specs.ArchAARCH64, SubArches: []specs.Arch{}},
	}, profile.ArchMap)
	var absent []string
	for _, call := range profile.Syscalls {
		require.Nil(t, call.Excludes)
		if call.Action == specs.ActErrno {
			require.EqualValues(t, 38, *call.ErrnoRet, "ENOSYS")
			absent = append(absent, call.Names...)
		} else {
			require.Equal(t, specs.ActAllow, call.Action)
		}
	}
	require.Equal(t, []string{"clone3", "io_setup", "listmount", "memfd_secret", "statmount"}, absent)
}

// None of what the profile is for may come back by a slip.
func TestTheProfileAllowsNoneOfTheCallsThatBreakOut(t *testing.T) {
	t.Parallel()
	own := rulesOf(t, builtInProfile(t))
	for _, name := range strings.Fields(`
		add_key keyctl request_key bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register ptrace process_vm_readv
		process_vm_writev process_madvise pidfd_getfd kcmp unshare setns clone3 mount umount umount2 move_mount open_tree fsopen fsconfig fsmount
		fspick mount_setattr pivot_root chroot quotactl quotactl_fd name_to_handle_at open_by_handle_at modify_ldt vm86 vm86old uselib ustat
		kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct syslog iopl ioperm lookup_dcookie
		settimeofday clock_settime sethostname setdomainname fanotify_init move_pages migrate_pages mbind nfsservctl vhangup`) {
		require.NotContains(t, own, name)
	}
}

func TestWhichProfileASettingNames(t *testing.T) {
	t.Parallel()
	own, err := Sandbox{}.SeccompProfile()
	require.NoError(t, err)
	require.JSONEq(t, string(builtInSeccomp), own)
	require.NotContains(t, own, "\n")
	require.Less(t, len(own), 8192, "it travels with each container that is created")

	dockers, err := Sandbox{Seccomp: "docker"}.SeccompProfile()
	require.NoError(t, err)
	require.Empty(t, dockers)

	file := filepath.Join(t.TempDir(), "profile.json")
	for content, want := range map[string]string{
		`{"defaultAction": "SCMP_ACT_KILL", "syscalls": [ {} ]}`: "",
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{}]}`:  `defaultAction: "SCMP_ACT_ALLOW" lets through`,
		`{"defaultAction": "SCMP_ACT_LOG", "syscalls": [{}]}`:    `defaultAction: "SCMP_ACT_LOG" lets through`,
		`{}`:                                  `defaultAction: "" lets through`, // for Docker this is no filter
		`{"defaultAction": "SCMP_ACT_ERRNO"}`: "syscalls: is empty",
		`unconfined`:                          "not a seccomp profile",
		``:                                    "not a seccomp profile",
	} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		profile, err := Sandbox{Seccomp: file}.SeccompProfile()
		if want == "" {
			require.NoError(t, err)
			require.JSONEq(t, `{"defaultAction":"SCMP_ACT_KILL","syscalls":[{}]}`, profile)
			continue
		}
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "sandbox.seccomp: file "+file)
		require.Empty(t, profile)
	}
	_, err = Sandbox{Seccomp: file + ".absent"}.SeccompProfile()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "sandbox.seccomp")
}
