"""Never ends by itself. What it printed before is kept."""
print("spinning", flush=True)
while True:
    pass
