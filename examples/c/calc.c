/* A calculator for reverse Polish notation; its stack is a second source file. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "stack.h"

int main(int argc, char **argv) {
    struct stack s = {0};
    for (int i = 1; i < argc; i++) {
        if (isdigit((unsigned char)argv[i][0])) {
            push(&s, strtol(argv[i], NULL, 10));
            continue;
        }
        long b = pop(&s), a = pop(&s);
        switch (argv[i][0]) {
        case '+': push(&s, a + b); break;
        case '-': push(&s, a - b); break;
        case 'x': push(&s, a * b); break;
        }
    }
    printf("%ld\n", pop(&s));
    return 0;
}
