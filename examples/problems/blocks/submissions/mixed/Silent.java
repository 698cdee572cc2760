// @EXPECTED_RESULTS@: NO-OUTPUT
public class Silent {
    public static void main(String[] args) {}
}
