// Work without end at compile time.
constexpr long spin(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < 1000; j++) sum += i ^ j;
    return sum;
}
template <long N> struct Work { static constexpr long value = spin(200 + N % 2) + Work<N - 1>::value; };
template <> struct Work<0> { static constexpr long value = 0; };
static_assert(Work<800>::value == 1);
int main() { return 0; }
