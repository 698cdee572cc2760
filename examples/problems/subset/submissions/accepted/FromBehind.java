import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;

// Another right choice wherever there are several.
public class FromBehind {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt(), load = in.nextInt();
        int[] weights = new int[n + 1], last = new int[load + 1];
        for (int i = 1; i <= n; i++) weights[i] = in.nextInt();
        Arrays.fill(last, -1);
        last[0] = 0;
        for (int stone = n; stone > 0; stone--)
            for (int total = load; total >= weights[stone]; total--)
                if (last[total] < 0 && last[total - weights[stone]] >= 0) last[total] = stone;
        if (last[load] < 0) {
            System.out.println("Impossible");
            return;
        }
        List<Integer> chosen = new ArrayList<>();
        for (; load > 0; load -= weights[last[load]]) chosen.add(last[load]);
        StringBuilder out = new StringBuilder(chosen.size() + "\n");
        for (int stone : chosen) out.append(stone).append(' ');
        System.out.println(out);
    }
}
