// Every byte there is, in words that are no text.
#include <cstdio>

int main() {
    for (int i = 0; i < 25600; i++) std::putchar(i & 255);
}
