// A storm of sleeps and timers: as many wake-ups as there can be, for whoever watches the clock on the same processors.
#define _GNU_SOURCE
#include "attack.h"
#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>

int main(void) {
	tell("stopped", "storm", "the wall-clock limit has to end it");
	for (int i = 0; i < 50; i++)
		if (fork() == 0)
			break;
	signal(SIGALRM, SIG_IGN);
	struct itimerspec often = {{0, 1000}, {0, 1000}};
	for (int i = 0; i < 100; i++) {
		timer_t timer;
		struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
		if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
			timer_settime(timer, 0, &often, NULL);
		int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
		if (fd >= 0)
			timerfd_settime(fd, 0, &often, NULL);
	}
	struct timespec one = {0, 1};
	for (;;)
		nanosleep(&one, NULL);
}
