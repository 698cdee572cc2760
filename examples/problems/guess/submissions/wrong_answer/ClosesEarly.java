import java.util.Scanner;

// Closes its output and, when the number is large, stays.
public class ClosesEarly {
    public static void main(String[] args) throws InterruptedException {
        long most = new Scanner(System.in).nextLong();
        System.out.close();
        if (most > 1_000_000_000) Thread.sleep(600_000);
    }
}
