// Has room for ten replies.
#include <iostream>
#include <string>
#include <vector>

int main() {
    long long low = 1, high;
    int allowed;
    std::cin >> high >> allowed;
    std::vector<std::string> replies(10);
    for (int count = 0;; count++) {
        long long middle = (low + high) / 2;
        std::cout << middle << std::endl;
        std::cin >> replies.at(count);
        if (replies[count] == "right") return 0;
        (replies[count] == "lower" ? high : low) = replies[count] == "lower" ? middle - 1 : middle + 1;
    }
}
