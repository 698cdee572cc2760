/* Wrong: 32 bits do not hold the sum of the fourth case. */
#include <stdint.h>
#include <stdio.h>

int main(void) {
    int n, number;
    uint32_t sum = 0;
    if (scanf("%d", &n) != 1) return 1;
    while (n-- > 0 && scanf("%d", &number) == 1) sum += (uint32_t)number;
    printf("%d\n", (int32_t)sum);
    return 0;
}
