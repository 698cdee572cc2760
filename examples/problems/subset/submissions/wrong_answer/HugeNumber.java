// A number of 500 000 digits.
public class HugeNumber {
    public static void main(String[] args) {
        System.out.println("1 " + "9".repeat(500_000));
    }
}
