import java.util.Scanner;

// Tries all 2^n choices.
public class EveryChoice {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt(), load = in.nextInt();
        int[] weights = new int[n];
        for (int i = 0; i < n; i++) weights[i] = in.nextInt();
        for (long choice = 1; choice < 1L << n; choice++) {
            int total = 0;
            for (int stone = 0; stone < n; stone++) if ((choice >> stone & 1) == 1) total += weights[stone];
            if (total != load) continue;
            StringBuilder out = new StringBuilder(Long.bitCount(choice) + "");
            for (int stone = 0; stone < n; stone++) if ((choice >> stone & 1) == 1) out.append(' ').append(stone + 1);
            System.out.println(out);
            return;
        }
        System.out.println("impossible");
    }
}
