// A number of 500 000 digits.
#include <iostream>
#include <string>

int main() { std::cout << "1 " << std::string(500'000, '9') << "\n"; }
