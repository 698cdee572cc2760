import java.util.Scanner;

// Finds the middle by walking there; volatile keeps the JVM from doing better.
public class Count {
    private static volatile long middle;

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        long low = 1, high = in.nextLong();
        in.nextInt();
        while (true) {
            middle = low;
            for (long end = high; middle < end; end--) middle++;
            System.out.println(middle);
            String reply = in.next();
            if (reply.equals("right")) return;
            if (reply.equals("lower")) high = middle - 1;
            else low = middle + 1;
        }
    }
}
