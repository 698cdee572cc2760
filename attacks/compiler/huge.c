// A program of 8 GiB.
char huge[8L << 30] = {1};
int main(void) { return huge[0]; }
