#include <iostream>
#include <string>

int main() {
    long long low = 1, high;
    int allowed;
    std::string reply;
    std::cin >> high >> allowed;
    while (reply != "right") {
        long long middle = (low + high) / 2;
        std::cout << middle << std::endl;
        if (!(std::cin >> reply)) return 1;
        (reply == "lower" ? high : low) = reply == "lower" ? middle - 1 : middle + 1;
    }
}
