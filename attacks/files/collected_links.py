# Links, FIFOs, sockets and devices where files are to be collected from: to the host's file, to the image's, and to folders.
import os, socket
from attack import *

path = sys.argv[1]
for i, target in enumerate((path, "/etc/passwd", "/proc/1/environ", "/proc/self/environ", "/dev/zero", "../" * 20 + path, "/proc/kmsg")):
    os.symlink(target, "out.link%d" % i)
os.symlink(os.path.dirname(path), "out.folder")
os.mkfifo("out.fifo")
socket.socket(socket.AF_UNIX).bind("out.socket")
os.mkdir("sub")
os.symlink(path, "sub/out.link")
try:
    os.link("/etc/passwd", "out.hard")
    escaped("hard link to the image's file")
except OSError as e:
    stopped("hard link", reason(e))
attempt("device", os.mknod, "out.device", 0o660 | 0o020000, os.makedev(1, 8))
stopped("links are made", "collecting has to refuse them")
