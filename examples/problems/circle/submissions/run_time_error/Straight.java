import java.util.Locale;
import java.util.Scanner;

// Takes three posts that stand almost in a line for a mistake.
public class Straight {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in).useLocale(Locale.ROOT);
        double ax = in.nextDouble(), ay = in.nextDouble();
        double bx = in.nextDouble() - ax, by = in.nextDouble() - ay;
        double cx = in.nextDouble() - ax, cy = in.nextDouble() - ay;
        double b = bx * bx + by * by, c = cx * cx + cy * cy;
        double twice = 2 * (bx * cy - by * cx);
        if (Math.abs(twice) < 1e-3 * Math.sqrt(b * c)) throw new ArithmeticException("a straight line");
        double x = (cy * b - by * c) / twice, y = (bx * c - cx * b) / twice;
        System.out.println((ax + x) + " " + (ay + y) + " " + Math.hypot(x, y));
    }
}
