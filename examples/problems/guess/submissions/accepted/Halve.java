import java.util.Scanner;

public class Halve {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        long low = 1, high = in.nextLong();
        in.nextInt();
        while (true) {
            long middle = (low + high) / 2;
            System.out.println(middle);
            String reply = in.next();
            if (reply.equals("right")) return;
            if (reply.equals("lower")) high = middle - 1;
            else low = middle + 1;
        }
    }
}
