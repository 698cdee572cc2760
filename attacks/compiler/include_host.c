// The compiler quotes what it does not understand.
#if __has_include("@CANARY@")
#include "@CANARY@"
#endif
#if __has_include("/proc/1/environ")
#include "/proc/1/environ"
#endif
#include "/etc/shadow"
int main(void) { return 0; }
