import java.util.Scanner;

// Too slow for all but the small tests.
// @EXPECTED_SCORE@: 20
public class Recursion {
    static long ways(long n) {
        if (n <= 0) return n == 0 ? 1 : 0;
        return (ways(n - 1) + ways(n - 2) + ways(n - 3)) % 1_000_000_007;
    }

    public static void main(String[] args) {
        System.out.println(ways(new Scanner(System.in).nextLong()));
    }
}
