// Both streams at once without end, in single bytes and in large pieces.
#include "attack.h"

int main(void) {
	static char piece[1 << 20];
	memset(piece, 'y', sizeof piece);
	tell("stopped", "flood", "the limit of output has to end it");
	int large = fork() == 0;
	for (;;) {
		for (int stream = 1; stream <= 2; stream++) {
			ssize_t written = write(stream, piece, large ? sizeof piece : 1);
			(void)written;
		}
	}
}
