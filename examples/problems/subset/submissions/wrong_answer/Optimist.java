import java.util.Scanner;

// Lifts everything.
public class Optimist {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt();
        System.out.print(n);
        for (int stone = 1; stone <= n; stone++) System.out.print(" " + stone);
        System.out.println();
    }
}
