// What attacks in C share: one line for each attempt.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void tell(const char *kind, const char *what, const char *why) {
	printf("%s: %s: %s\n", kind, what, why);
	fflush(stdout);
}
#define escaped(what, why) tell("ESCAPED", what, why)
#define stopped(what) tell("stopped", what, strerror(errno))
