// Memory that is no process's own, until the kernel looks for the largest process: all of these are smaller than process 1, and have
// the same right to live.
#define _GNU_SOURCE
#include "attack.h"
#include <fcntl.h>
#include <sys/mman.h>

int main(void) {
	int score = open("/proc/self/oom_score_adj", O_WRONLY);
	if (score < 0 || write(score, "0", 1) != 1)
		stopped("oom_score_adj of 0");
	tell("stopped", "fill", "the kernel's limit has to end it, and the job is to blame");
	static char piece[1 << 16];
	memset(piece, 1, sizeof piece);
	int file = memfd_create("nobody", 0);
	for (int i = 0; i < 8192; i++)
		if (write(file, piece, sizeof piece) < 0)
			stopped("write");
	escaped("512 MiB", "that belong to no process");
}
