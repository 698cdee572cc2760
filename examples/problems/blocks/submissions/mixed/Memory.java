// The JVM ends itself with exit code 1 at a heap below the memory limit.
// @EXPECTED_RESULTS@: RUN-ERROR
public class Memory {
    public static void main(String[] args) {
        long[][] ways = new long[128][];
        for (int i = 0; i < ways.length; i++) ways[i] = new long[1 << 20];
        System.out.println(ways.length);
    }
}
