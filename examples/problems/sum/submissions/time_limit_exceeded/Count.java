import java.util.Scanner;

// Counts each amount on its fingers; volatile keeps the JVM from doing better.
public class Count {
    private static volatile long total;

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        for (int n = in.nextInt(); n > 0; n--) {
            long amount = in.nextLong();
            for (; amount > 0; amount--) total++;
            for (; amount < 0; amount++) total--;
        }
        System.out.println(total);
    }
}
