// Writes all guesses without listening to any reply.
public class NeverReads {
    public static void main(String[] args) {
        for (int guess = 1; guess <= 100; guess++) System.out.println(guess);
    }
}
