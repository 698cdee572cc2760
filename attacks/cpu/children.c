// Much CPU time, of which no process has more than 50 ms.
#define _GNU_SOURCE
#include "attack.h"
#include <sys/wait.h>
#include <time.h>

int main(void) {
	tell("stopped", "children of 50 ms", "the limit of CPU time has to end them");
	for (int made = 0; made < 200; made++) {
		pid_t child = fork();
		if (child < 0) {
			perror("fork");
			return 1;
		}
		if (child == 0) {
			struct timespec used;
			do
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
			while (used.tv_sec == 0 && used.tv_nsec < 50000000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	escaped("limit of CPU time", "200 children had 10 s");
}
