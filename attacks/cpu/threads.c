// More CPU time than the quota of half a processor gives, by sixty threads at once.
#define _GNU_SOURCE
#include "attack.h"
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

static double begun;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *spin(void *unused) {
	(void)unused;
	while (now() - begun < 4)
		;
	return NULL;
}

int main(void) {
	pthread_t threads[60];
	int made = 0;
	begun = now();
	for (; made < 60; made++)
		if ((errno = pthread_create(&threads[made], NULL, spin, NULL)) != 0) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	double wall = now() - begun;
	double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	char figures[100];
	snprintf(figures, sizeof figures, "%d threads had %.2f s of CPU in %.2f s", made, cpu, wall);
	// The kernel may give one period of each processor more, and counts by ticks.
	tell(cpu > 0.5 * wall + 0.5 ? "ESCAPED" : "stopped", "quota of half a processor", figures);
}
