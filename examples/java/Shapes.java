import java.util.List;

public class Shapes {
    sealed interface Shape permits Square, Rectangle {}
    record Square(int side) implements Shape {}
    record Rectangle(int width, int height) implements Shape {}

    static int area(Shape shape) {
        if (shape instanceof Square square) {
            return square.side() * square.side();
        }
        Rectangle rectangle = (Rectangle) shape;
        return rectangle.width() * rectangle.height();
    }

    public static void main(String[] args) {
        List<Shape> shapes = List.of(new Square(3), new Rectangle(4, 5));
        for (Shape shape : shapes) {
            System.out.println(shape + " " + area(shape));
        }
    }
}
