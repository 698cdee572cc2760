import sys
from bounds import MOST
n = int(input())
print(min(n, MOST))
