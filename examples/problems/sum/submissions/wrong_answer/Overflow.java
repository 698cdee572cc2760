import java.util.Scanner;

// 32 bits are too few.
public class Overflow {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int sum = 0;
        for (int n = in.nextInt(); n > 0; n--) sum += in.nextInt();
        System.out.println(sum);
    }
}
