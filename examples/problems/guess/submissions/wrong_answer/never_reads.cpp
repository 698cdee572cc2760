// Writes all guesses without listening to any reply.
#include <cstdio>

int main() {
    for (int guess = 1; guess <= 100; guess++) std::printf("%d\n", guess);
}
