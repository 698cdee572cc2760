// Neither reads nor writes.
int main() {}
