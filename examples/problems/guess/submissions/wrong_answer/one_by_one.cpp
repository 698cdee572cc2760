// Asks too often.
#include <iostream>
#include <string>

int main() {
    std::string reply;
    std::getline(std::cin, reply);
    for (long long guess = 1; reply != "right"; guess++) {
        std::cout << guess << std::endl;
        if (!std::getline(std::cin, reply)) return 0;
    }
}
