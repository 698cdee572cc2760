// Threads instead of processes.
#define _GNU_SOURCE
#include "attack.h"
#include <sched.h>
#include <sys/mman.h>

static int wait_for_ever(void *unused) {
	(void)unused;
	for (;;)
		pause();
}

int main(void) {
	enum { stack = 16384 };
	for (int made = 0; made < 200; made++) {
		char *top = mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (clone(wait_for_ever, top + stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL) < 0) {
			stopped("clone of a thread");
			pause();
		}
	}
	escaped("threads", "200");
}
