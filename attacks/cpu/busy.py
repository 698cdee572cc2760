# A loop without end.
print("stopped: the limit of CPU time has to end it", flush=True)
while True:
    pass
