#include "receipt.hpp"

#include <numeric>

long long total(const std::vector<long long> &amounts) {
    return std::accumulate(amounts.begin(), amounts.end(), 0LL);
}
