// @EXPECTED_RESULTS@: OUTPUT-LIMIT
public class Output {
    public static void main(String[] args) {
        String many = "trying another centre\n".repeat(1000);
        while (true) System.out.print(many);
    }
}
