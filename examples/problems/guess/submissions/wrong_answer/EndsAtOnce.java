// Neither reads nor writes.
public class EndsAtOnce {
    public static void main(String[] args) {}
}
