import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        Receipt receipt = new Receipt();
        for (int n = in.nextInt(); n > 0; n--) receipt.add(in.nextLong());
        System.out.println(receipt.total());
    }
}
