import java.util.Scanner;

// @EXPECTED_SCORE@: 100
public class Matrix {
    static long[][] times(long[][] a, long[][] b) {
        long[][] c = new long[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) c[i][j] = (c[i][j] + a[i][k] * b[k][j]) % 1_000_000_007;
        return c;
    }

    public static void main(String[] args) {
        long n = new Scanner(System.in).nextLong();
        long[][] power = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, step = {{1, 1, 1}, {1, 0, 0}, {0, 1, 0}};
        for (; n > 0; n /= 2, step = times(step, step)) if (n % 2 == 1) power = times(power, step);
        System.out.println(power[0][0]);
    }
}
