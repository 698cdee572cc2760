import java.util.Scanner;
import java.util.TreeMap;

// Does not think of what is impossible.
public class NoChoice {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt(), load = in.nextInt();
        int[] weights = new int[n + 1];
        TreeMap<Integer, Integer> last = new TreeMap<>();
        last.put(0, 0);
        for (int stone = 1; stone <= n; stone++) {
            weights[stone] = in.nextInt();
            for (int total = load; total >= weights[stone]; total--)
                if (!last.containsKey(total) && last.containsKey(total - weights[stone])) last.put(total, stone);
        }
        int count = 0;
        StringBuilder out = new StringBuilder();
        for (; load > 0; load -= weights[last.get(load)], count++) out.append(' ').append(last.get(load));
        System.out.println(count + out.toString());
    }
}
