import sys
from steps import MOST
n = int(input())
print(min(n, MOST))
