// @EXPECTED_RESULTS@: COMPILER-ERROR
public class Compile {
    public static void main(String[] args) {
        int total = "0";
        System.out.println(total);
    }
}
