# Twice the limit of memory on the heap.
held = []
for _ in range(64):
    held.append(bytearray(b"x" * (8 << 20)))
print("ESCAPED: 512 MiB of heap", flush=True)
