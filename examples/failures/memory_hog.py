"""Asks for 400 MB where 256 MiB are allowed."""
print("asking for 400 MB", flush=True)
data = bytearray(400_000_000)
print("not reached: the kernel ends it first", len(data))
