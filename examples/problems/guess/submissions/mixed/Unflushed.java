import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.util.Scanner;

// Keeps a large number's guess in its buffer, so that both sides wait.
// @EXPECTED_RESULTS@: TIMELIMIT
public class Unflushed {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        long low = 1, high = in.nextLong();
        in.nextInt();
        boolean large = high > 1_000_000_000;
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false);
        while (true) {
            long middle = (low + high) / 2;
            out.println(middle);
            if (!large) out.flush();
            String reply = in.next();
            if (reply.equals("right")) return;
            if (reply.equals("lower")) high = middle - 1;
            else low = middle + 1;
        }
    }
}
