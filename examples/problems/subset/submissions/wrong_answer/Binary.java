// Every byte there is, in words that are no text.
public class Binary {
    public static void main(String[] args) {
        for (int i = 0; i < 25600; i++) System.out.write(i & 255);
        System.out.flush();
    }
}
