import java.util.Scanner;

// Forgets to take a step.
public class NoStep {
    public static void main(String[] args) {
        long n = new Scanner(System.in).nextLong(), a = 0, b = 0, c = 1, i = 0;
        while (i < n) {
            long next = (a + b + c) % 1_000_000_007;
            a = b;
            b = c;
            c = next;
        }
        System.out.println(c);
    }
}
