// Keeps a large number's guess in its buffer, so that both sides wait.
// @EXPECTED_RESULTS@: TIMELIMIT
#include <cstdio>
#include <cstring>

int main() {
    long long low = 1, high;
    char reply[10] = "";
    if (std::scanf("%lld%*d", &high) != 1) return 1;
    bool large = high > 1'000'000'000;
    while (std::strcmp(reply, "right") != 0) {
        long long middle = (low + high) / 2;
        std::printf("%lld\n", middle);
        if (!large) std::fflush(stdout);
        if (std::scanf("%9s", reply) != 1) return 1;
        (std::strcmp(reply, "lower") == 0 ? high : low) = std::strcmp(reply, "lower") == 0 ? middle - 1 : middle + 1;
    }
}
