// @EXPECTED_RESULTS@: NO-OUTPUT
int main() {}
