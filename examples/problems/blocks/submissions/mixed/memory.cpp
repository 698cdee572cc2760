// @EXPECTED_RESULTS@: MEMORY-LIMIT
// A table of 1 GiB, in huge pages where there are any: the memory is used up long before the time.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sys/mman.h>

int main() {
    long long n;
    std::cin >> n;
    const std::size_t size = 1 << 30;
    char *table = static_cast<char *>(std::aligned_alloc(1 << 21, size));
    madvise(table, size, MADV_HUGEPAGE);
    std::memset(table, 1, size);
    std::cout << n + table[n & 1023] << "\n";
}
