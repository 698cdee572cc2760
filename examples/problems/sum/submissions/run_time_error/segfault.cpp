#include <iostream>

int main() {
    volatile int *nowhere = nullptr;
    std::cout << *nowhere << "\n";
}
