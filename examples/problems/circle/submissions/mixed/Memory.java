// The JVM ends itself with exit code 1 at a heap below the memory limit.
// @EXPECTED_RESULTS@: RUN-ERROR
public class Memory {
    public static void main(String[] args) {
        float[][] grid = new float[256][];
        for (int i = 0; i < grid.length; i++) grid[i] = new float[1 << 20];
        System.out.println(grid.length + " 0 0");
    }
}
