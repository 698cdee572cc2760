import java.math.BigInteger;
import java.util.Scanner;

// Takes any block n times.
// @EXPECTED_SCORE@: 0
public class PowerOfThree {
    public static void main(String[] args) {
        BigInteger n = new Scanner(System.in).nextBigInteger();
        System.out.println(BigInteger.valueOf(3).modPow(n, BigInteger.valueOf(1_000_000_007)));
    }
}
