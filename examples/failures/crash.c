/* Writes through a null pointer. */
#include <stdio.h>

int main(void) {
    volatile int *nowhere = NULL;
    puts("about to crash");
    fflush(stdout);
    *nowhere = 1;
    return 0;
}
