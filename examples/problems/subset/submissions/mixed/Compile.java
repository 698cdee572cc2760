// @EXPECTED_RESULTS@: COMPILER-ERROR
public class Compile {
    public static void main(String[] args) {
        System.out.printline("impossible");
    }
}
