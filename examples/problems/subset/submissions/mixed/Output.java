// @EXPECTED_RESULTS@: OUTPUT-LIMIT
public class Output {
    public static void main(String[] args) {
        String many = "1 ".repeat(10_000);
        while (true) System.out.print(many);
    }
}
