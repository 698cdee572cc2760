# Standard output without end.
import os
os.write(1, b"stopped: the limit of output has to end it\n")
while True:
    os.write(1, b"x" * 65536)
