#include <stdio.h>
#include <stdlib.h>
#include "stack.h"

void push(struct stack *s, long value) {
    if (s->depth == 32) {
        fputs("the stack is full\n", stderr);
        exit(1);
    }
    s->items[s->depth++] = value;
}

long pop(struct stack *s) {
    if (s->depth == 0) {
        fputs("the stack is empty\n", stderr);
        exit(1);
    }
    return s->items[--s->depth];
}
