#include <stdio.h>

int main(void) {
    long n, number, sum = 0;
    if (scanf("%ld", &n) != 1) return 1;
    while (n-- > 0 && scanf("%ld", &number) == 1) sum += number;
    printf("%ld\n", sum);
    return 0;
}
