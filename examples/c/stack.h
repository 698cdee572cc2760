struct stack { long items[32]; int depth; };

void push(struct stack *s, long value);
long pop(struct stack *s);
