// The judge reads on past white space, for ever.
// @EXPECTED_RESULTS@: OUTPUT-LIMIT
public class Spaces {
    public static void main(String[] args) {
        String many = " ".repeat(10_000);
        while (true) System.out.print(many);
    }
}
