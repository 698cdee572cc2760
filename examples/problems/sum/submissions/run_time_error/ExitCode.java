import java.util.Scanner;

// The right output does not make up for an exit code other than 0.
public class ExitCode {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        long sum = 0;
        for (int n = in.nextInt(); n > 0; n--) sum += in.nextLong();
        System.out.println(sum);
        System.exit(3);
    }
}
