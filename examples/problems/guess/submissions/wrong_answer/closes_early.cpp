// Closes its output and, when the number is large, stays.
#include <iostream>
#include <unistd.h>

int main() {
    long long most;
    std::cin >> most;
    close(STDOUT_FILENO);
    if (most > 1'000'000'000) sleep(600);
}
