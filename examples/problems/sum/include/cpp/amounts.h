// Every submission in C++ finds this file beside its own.
#ifndef AMOUNTS_H
#define AMOUNTS_H

#include <iostream>
#include <vector>

inline std::vector<long long> read_amounts() {
    int n;
    std::cin >> n;
    std::vector<long long> amounts(n);
    for (long long &amount : amounts) std::cin >> amount;
    return amounts;
}

#endif
