// A plug-in and another linker by what stands in the source and the workspace: gcc takes neither from there.
#pragma GCC optimize("fplugin=/workspace/evil.so")
#pragma GCC poison main_
__attribute__((constructor)) static void before(void);
int puts(const char *);
static void before(void) { puts("stopped: runs in the program, not in the compiler"); }
int main(void) { return 0; }
