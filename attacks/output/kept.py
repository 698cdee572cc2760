# 100 MiB on both streams, of which a few KiB are kept.
import os, threading

def flood(fd):
    for _ in range(100):
        os.write(fd, b"z" * (1 << 20))

other = threading.Thread(target=flood, args=(2,))
other.start()
flood(1)
other.join()
os.write(1, b"\nstopped: all was written\n")
