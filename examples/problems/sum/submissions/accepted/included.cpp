// Uses the package's include/cpp/amounts.h.
#include "amounts.h"

int main() {
    long long sum = 0;
    for (long long amount : read_amounts()) sum += amount;
    std::cout << sum << std::endl;
}
