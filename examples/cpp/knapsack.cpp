// Reads "items capacity" and then "weight value" lines; prints the best value that fits.
#include <algorithm>
#include <iostream>
#include <vector>

int main() {
    int items, capacity;
    std::cin >> items >> capacity;
    std::vector<long> best(capacity + 1);
    for (int i = 0; i < items; i++) {
        int weight, value;
        std::cin >> weight >> value;
        for (int room = capacity; room >= weight; room--)
            best[room] = std::max(best[room], best[room - weight] + value);
    }
    std::cout << best[capacity] << '\n';
}
