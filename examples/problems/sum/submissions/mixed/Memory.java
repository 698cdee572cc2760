// The JVM ends itself with exit code 1 at a heap below the memory limit.
// @EXPECTED_RESULTS@: RUN-ERROR
public class Memory {
    public static void main(String[] args) {
        byte[][] table = new byte[1024][];
        for (int i = 0; i < table.length; i++) table[i] = new byte[1 << 20];
        System.out.println(table.length);
    }
}
