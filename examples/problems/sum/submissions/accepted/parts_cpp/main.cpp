#include "receipt.hpp"

#include "amounts.h"

int main() { std::cout << total(read_amounts()) << "\n"; }
