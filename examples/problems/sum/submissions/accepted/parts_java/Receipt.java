class Receipt {
    private long total;

    void add(long amount) {
        total += amount;
    }

    long total() {
        return total;
    }
}
