// @EXPECTED_RESULTS@: OUTPUT-LIMIT
public class Output {
    public static void main(String[] args) {
        String many = "1 way\n".repeat(1000);
        while (true) System.out.print(many);
    }
}
