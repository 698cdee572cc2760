// @EXPECTED_RESULTS@: COMPILER-ERROR
public class Compile {
    public static void main(String[] args) {
        float radius = Math.hypot(3, 4);
        System.out.println("0 0 " + radius);
    }
}
