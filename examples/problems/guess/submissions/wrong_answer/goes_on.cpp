// Guesses once more when it has won.
#include <iostream>
#include <string>

int main() {
    long long low = 1, high, middle = 0;
    int allowed;
    std::string reply;
    std::cin >> high >> allowed;
    while (reply != "right") {
        middle = (low + high) / 2;
        std::cout << middle << std::endl;
        if (!(std::cin >> reply)) return 1;
        (reply == "lower" ? high : low) = reply == "lower" ? middle - 1 : middle + 1;
    }
    std::cout << middle << std::endl;
}
