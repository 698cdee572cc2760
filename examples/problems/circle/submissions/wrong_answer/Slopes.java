import java.util.Locale;
import java.util.Scanner;

// A line straight up has no slope: 0 * Infinity is NaN.
public class Slopes {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in).useLocale(Locale.ROOT);
        double ax = in.nextDouble(), ay = in.nextDouble(), bx = in.nextDouble(), by = in.nextDouble();
        double cx = in.nextDouble(), cy = in.nextDouble();
        double first = (by - ay) / (bx - ax), second = (cy - by) / (cx - bx);
        double x = (first * second * (cy - ay) + first * (bx + cx) - second * (ax + bx)) / (2 * (first - second));
        double y = (ay + by) / 2 - (x - (ax + bx) / 2) / first;
        System.out.println(x + " " + y + " " + Math.hypot(x - ax, y - ay));
    }
}
