import java.util.Scanner;

// There may be no first amount.
public class First {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        long[] amounts = new long[in.nextInt()];
        for (int i = 0; i < amounts.length; i++) amounts[i] = in.nextLong();
        long sum = amounts[0];
        for (int i = 1; i < amounts.length; i++) sum += amounts[i];
        System.out.println(sum);
    }
}
