package supervisor

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// abi names the system calls by which a process changes how another of its user is scheduled
// or limited. They ask for the same user only, and process 1 has the job's.
type abi struct {
	arch uint32 // AUDIT_ARCH_*
	// byThread have a thread id as their first argument: sched_setparam, sched_setscheduler,
	// sched_setaffinity, sched_setattr, prlimit64.
	byThread [5]uint32
	// These two have it as their second, after what it stands for.
	setPriority, ioprioSet uint32
	// outliving make what can live on when all processes have ended: add_key, request_key, keyctl, whose keyrings
	// are the user's on the whole host, and io_uring_setup, whose requests the kernel ends later.
	outliving [4]uint32
}

// filterInstruction is struct sock_filter of the kernel.
type filterInstruction struct {
	code         uint16
	ifTrue, skip uint8
	value        uint32
}

// The operations of a filter and the places in struct seccomp_data (little-endian).
const (
	opLoad, opAnd, opReturn = 0x20, 0x54, 0x06
	opJump, opIfEqual       = 0x05, 0x15
	opIfGreater             = 0x25
	atNumber, atArch        = 0, 4
	atFirst, atSecond       = 16, 24
	allow                   = 0x7fff0000
	refuse                  = 0x00050000 | uint32(syscall.EPERM)
	x32Bit                  = 0x40000000
)

// guardThreads takes from the job, which inherits the filter, what would slow down or starve this process,
// since its limits would then be enforced late, and what no kill ends. All threads must have been started, and no job.
func guardThreads() error {
	last, err := lastThread()
	if err != nil {
		return err
	}
	var filter []filterInstruction
	for _, a := range abis {
		filter = append(filter, a.section(last)...)
	}
	filter = append(filter, filterInstruction{code: opReturn, value: allow})
	program := struct {
		length uint16
		filter *filterInstruction
	}{uint16(len(filter)), &filter[0]} //nolint:gosec // a few dozen
	const setModeFilter, allThreads = 1, 1                                                                        // SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC
	failed, _, errno := syscall.Syscall(sysSeccomp, setModeFilter, allThreads, uintptr(unsafe.Pointer(&program))) //nolint:gosec // the kernel's interface
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("seccomp filter: %w", errno)
	}
	if failed != 0 {
		return fmt.Errorf("seccomp filter: thread %d has another one", failed)
	}
	return nil
}

// lastThread is the highest thread id there is. Those of the job will be higher.
func lastThread() (last uint32, err error) {
	threads, err := threadIDs()
	if err != nil {
		return 0, err
	}
	return slices.Max(threads), nil
}

// threadIDs are those of this process's threads.
func threadIDs() (ids []uint32, err error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	for _, thread := range threads {
		id, err := strconv.ParseUint(thread.Name(), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("list threads: %w", err)
		}
		ids = append(ids, uint32(id))
	}
	return ids, nil
}

// section decides about calls of one abi that name a thread up to last or are outliving, and lets calls
// of another abi pass on to what follows.
func (a abi) section(last uint32) []filterInstruction {
	const k = uint8(len(a.byThread) + len(a.outliving))
	const first, priority, ioprio, second, number, no, yes = k + 5, k + 7, k + 10, k + 12, k + 13, k + 15, k + 16
	body := []filterInstruction{{opLoad, 0, 0, atNumber}, {opAnd, 0, 0, ^uint32(x32Bit)}}
	on := func(value uint32, target uint8) {
		body = append(body, filterInstruction{opIfEqual, target - uint8(len(body)) - 1, 0, value}) //nolint:gosec // at most yes
	}
	do := func(code uint16, value uint32) { body = append(body, filterInstruction{code, 0, 0, value}) }
	to := func(target uint8) { do(opJump, uint32(target)-uint32(len(body))-1) } //nolint:gosec // at most yes
	for _, call := range a.byThread {
		on(call, first)
	}
	for _, call := range a.outliving {
		on(call, no)
	}
	on(a.setPriority, priority)
	on(a.ioprioSet, ioprio)
	do(opReturn, allow)
	do(opLoad, atFirst) // first
	to(number)
	do(opLoad, atFirst) // priority
	on(2, no)           // PRIO_USER: all processes of the user
	to(second)
	do(opLoad, atFirst)                                                                      // ioprio
	on(3, no)                                                                                // IOPRIO_WHO_USER
	do(opLoad, atSecond)                                                                     // second
	on(0, yes)                                                                               // number: 0 is the caller itself
	body = append(body, filterInstruction{opIfGreater, yes - uint8(len(body)) - 1, 0, last}) //nolint:gosec // at most yes
	do(opReturn, refuse)
	do(opReturn, allow)
	return append([]filterInstruction{{opLoad, 0, 0, atArch}, {opIfEqual, 0, uint8(len(body)), a.arch}}, body...) //nolint:gosec // at most yes
}
