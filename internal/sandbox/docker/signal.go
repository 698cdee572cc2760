package docker

import "strconv"

// signalNames are Linux's on every architecture that Docker runs on, by number.
var signalNames = [...]string{
	1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

// signalName names a signal: SIGSEGV for 11, SIG40 for one without a name of its own.
func signalName(number int) string {
	if number > 0 && number < len(signalNames) {
		return signalNames[number]
	}
	return "SIG" + strconv.Itoa(number)
}
