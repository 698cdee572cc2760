// All pages at once in one call, private and shared, and locked.
#define _GNU_SOURCE
#include "attack.h"
#include <sys/mman.h>

int main(void) {
	const size_t size = 512 << 20;
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) // what is locked counts like the rest
		stopped("mlockall");
	munlockall();
	tell("stopped", "populate", "the kernel's limit has to end it");
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED) {
		stopped("huge pages");
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	}
	if (memory == MAP_FAILED) {
		stopped("mmap");
		return 0;
	}
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	escaped("mmap", "512 MiB populated");
}
