import java.util.Scanner;

// The table ends before the length, and has none at all for what is too long for an int.
public class ShortTable {
    public static void main(String[] args) {
        long n = new Scanner(System.in).nextLong();
        long[] ways = new long[(int) Math.min(n, 1000)];
        System.out.println(ways[Math.toIntExact(n)]);
    }
}
