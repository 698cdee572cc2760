// @EXPECTED_RESULTS@: COMPILER-ERROR
public class Compile {
    public static void main(String[] args) {
        long n = 1_000_000_000_000_000_000;
        System.out.println(n);
    }
}
