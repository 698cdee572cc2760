// @EXPECTED_RESULTS@: COMPILER-ERROR
public class Compile {
    public static void main(String[] args) {
        int middle = 500_000_000_000;
        System.out.println(middle);
    }
}
