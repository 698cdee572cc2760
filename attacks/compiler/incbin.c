// The assembler takes files into the program as they are.
__asm__(".section .rodata\n.global secret\nsecret: .incbin \"@CANARY@\"\n.byte 0\n");
extern const char secret[];
int puts(const char *);
int main(void) { return puts(secret); }
