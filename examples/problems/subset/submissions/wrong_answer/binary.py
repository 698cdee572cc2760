# Every byte there is, in words that are no text.
import sys

sys.stdout.buffer.write(bytes(range(256)) * 100)
