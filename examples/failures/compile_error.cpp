#include <iostream>

int main() {
    std::cout << answer << '\n';
}
