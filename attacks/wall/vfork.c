// A parent that no signal reaches but SIGKILL, since its vfork child never lets it go.
#include "attack.h"

int main(void) {
	tell("stopped", "wait", "the wall-clock limit has to end it");
	for (int depth = 0; depth < 20; depth++)
		if (vfork() != 0)
			break;
	for (;;)
		pause();
}
