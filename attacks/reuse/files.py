# Files for the next program: hidden, locked, without rights, and those that interpreters, shells and compilers read when they start.
import os
from attack import *

for path in ("/tmp/.profile", "/tmp/.bashrc", "/tmp/.pythonrc", "/tmp/.local/lib/python3.11/site-packages/usercustomize.py", "/tmp/.npmrc", "/tmp/.node_modules/x/index.js", "/workspace/main.py~",
             "/workspace/.sandloop-out", "/workspace/sitecustomize.py", "/workspace/os.py", "/workspace/__pycache__/os.cpython-311.pyc", "/workspace/stdio.h", "/dev/shm/sem.left", "/tmp/.X11-unix/X0"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write("raise SystemExit('poisoned')\n")
for folder in "/tmp/locked", "/workspace/locked", "/dev/shm/locked":
    os.makedirs(folder + "/below")
    with open(folder + "/below/file", "w") as f:
        f.write("x")
    os.chmod(folder + "/below", 0)
    os.chmod(folder, 0)
for folder in "/tmp", "/workspace", "/dev/shm":
    attempt("mode of " + folder, os.chmod, folder, 0o700)
    try:
        os.setxattr(folder, "user.left", b"x")
        escaped("attribute of " + folder)
    except OSError as e:
        stopped("attribute of " + folder, reason(e))
try:
    held = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    os.write(held, b"x" * 4096)
except OSError as e:
    stopped("file without a name", reason(e))
stopped("files are left", "the wipe has to take them")
