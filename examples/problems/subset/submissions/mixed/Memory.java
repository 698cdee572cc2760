// The JVM ends itself with exit code 1 at a heap below the memory limit.
// @EXPECTED_RESULTS@: RUN-ERROR
public class Memory {
    public static void main(String[] args) {
        int[][] choices = new int[256][];
        for (int i = 0; i < choices.length; i++) choices[i] = new int[1 << 20];
        System.out.println(choices.length);
    }
}
