// More CPU time than the quota of half a processor gives, by sixty processes at once.
#define _GNU_SOURCE
#include "attack.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static double clock_of(clockid_t clock) {
	struct timespec now;
	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(void) {
	double begun = clock_of(CLOCK_MONOTONIC);
	int children = 0;
	for (; children < 60; children++) {
		pid_t child = fork();
		if (child < 0)
			break;
		if (child == 0) {
			while (clock_of(CLOCK_MONOTONIC) - begun < 4)
				;
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	double wall = clock_of(CLOCK_MONOTONIC) - begun;
	double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	char figures[100];
	snprintf(figures, sizeof figures, "%d processes had %.2f s of CPU in %.2f s", children, cpu, wall);
	// The kernel may give one period of each processor more, and counts by ticks.
	tell(cpu > 0.5 * wall + 0.5 ? "ESCAPED" : "stopped", "quota of half a processor", figures);
}
