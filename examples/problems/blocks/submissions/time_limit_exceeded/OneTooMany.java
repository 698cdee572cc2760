import java.util.Scanner;

// Too slow for the large tests, and wrong on the others: the worst verdict counts.
// @EXPECTED_SCORE@: 0
public class OneTooMany {
    public static void main(String[] args) {
        long a = 0, b = 0, c = 1;
        for (long n = new Scanner(System.in).nextLong(); n >= 0; n--) {
            long next = (a + b + c) % 1_000_000_007;
            a = b;
            b = c;
            c = next;
        }
        System.out.println(c);
    }
}
