# White space between and around tokens does not count.
input()
print("\r\n\t", sum(map(int, input().split())), " \r\n\r\n")
