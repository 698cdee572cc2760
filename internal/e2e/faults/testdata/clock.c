/* Loaded before a C program's libraries, this steps its time of day by the seconds in a file, each time that it asks. Its
 * monotonic clocks stay as they are. System calls are made directly, so that a program's allocator can ask for the time, too. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long step(void) {
	int before = errno;
	long long seconds = 0;
	const char *name = getenv("SANDLOOP_TEST_CLOCK");
	long file = name ? syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC) : -1;
	if (file >= 0) {
		if (syscall(SYS_read, file, &seconds, sizeof seconds) != sizeof seconds) seconds = 0;
		syscall(SYS_close, file);
	}
	errno = before;
	return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
	int failed = (int)syscall(SYS_clock_gettime, clock, now);
	if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += step();
	return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
	int failed = (int)syscall(SYS_gettimeofday, now, zone);
	if (!failed) now->tv_sec += step();
	return failed;
}

time_t time(time_t *out) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (out) *out = now.tv_sec;
	return now.tv_sec;
}
