import java.util.Scanner;

// Has room for ten replies.
public class TenGuesses {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        long low = 1, high = in.nextLong();
        in.nextInt();
        String[] replies = new String[10];
        for (int count = 0; ; count++) {
            long middle = (low + high) / 2;
            System.out.println(middle);
            replies[count] = in.next();
            if (replies[count].equals("right")) return;
            if (replies[count].equals("lower")) high = middle - 1;
            else low = middle + 1;
        }
    }
}
