import java.util.Scanner;

// Asks too often.
public class OneByOne {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        in.nextLine();
        for (long guess = 1; ; guess++) {
            System.out.println(guess);
            if (!in.hasNext() || in.next().equals("right")) return;
        }
    }
}
