// @EXPECTED_RESULTS@: OUTPUT-LIMIT
public class Output {
    public static void main(String[] args) {
        String many = "0\n".repeat(10_000);
        while (true) System.out.print(many);
    }
}
