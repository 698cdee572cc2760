"""Writes more than /workspace holds."""
with open("big", "wb") as file:
    for _ in range(300):
        file.write(b"\0" * 1_000_000)
print("not reached")
