import java.util.Locale;
import java.util.Scanner;

// Walks in small steps along the line between two posts' middle until the third is as far away as they are.
public class Walk {
    static double ax, ay, bx, by, cx, cy, mx, my, dx, dy;

    static double distance(double x, double y) {
        return Math.sqrt(x * x + y * y);
    }

    static boolean nearer(double t) {
        double x = mx + t * dx, y = my + t * dy;
        return distance(x - ax, y - ay) < distance(x - cx, y - cy);
    }

    public static void main(String[] args) {
        Scanner in = new Scanner(System.in).useLocale(Locale.ROOT);
        ax = in.nextDouble();
        ay = in.nextDouble();
        bx = in.nextDouble();
        by = in.nextDouble();
        cx = in.nextDouble();
        cy = in.nextDouble();
        double side = distance(bx - ax, by - ay);
        mx = (ax + bx) / 2;
        my = (ay + by) / 2;
        dx = (ay - by) / side;
        dy = (bx - ax) / side;
        double low = 0, high = 0.01;
        while (nearer(low) == nearer(high) && nearer(-low) == nearer(-high)) {
            low = high;
            high += 0.01;
        }
        if (nearer(low) == nearer(high)) {
            low = -low;
            high = -high;
        }
        boolean atLow = nearer(low);
        for (int i = 0; i < 100; i++) {
            double middle = (low + high) / 2;
            if (nearer(middle) == atLow) low = middle;
            else high = middle;
        }
        double x = mx + low * dx, y = my + low * dy;
        System.out.println(x + " " + y + " " + distance(x - ax, y - ay));
    }
}
