import java.util.Locale;
import java.util.Scanner;

// Too few digits.
public class FiveDecimals {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in).useLocale(Locale.ROOT);
        double ax = in.nextDouble(), ay = in.nextDouble();
        double bx = in.nextDouble() - ax, by = in.nextDouble() - ay;
        double cx = in.nextDouble() - ax, cy = in.nextDouble() - ay;
        double b = bx * bx + by * by, c = cx * cx + cy * cy;
        double twice = 2 * (bx * cy - by * cx);
        double x = (cy * b - by * c) / twice, y = (bx * c - cx * b) / twice;
        System.out.printf(Locale.ROOT, "%.5f %.5f %.5f%n", ax + x, ay + y, Math.hypot(x, y));
    }
}
