// vfork and exec of itself, each child a new bomb.
#include "attack.h"
#include <signal.h>

int main(int argc, char **argv) {
	signal(SIGCHLD, SIG_IGN);
	for (int made = 0;; made++) {
		pid_t child = vfork();
		if (child == 0) {
			char *again[] = {argv[0], "child", NULL};
			execv("/proc/self/exe", again);
			_exit(1);
		}
		if (argc > 1)
			continue;
		if (child < 0) {
			stopped("vfork");
			pause();
		}
		if (made == 200)
			escaped("vfork", "200 children of one process");
	}
}
