# Every folder of the image outside of what is meant to be written: a new file, folder and link in it; its files, of a folder below /usr the
# first 40 names, overwritten and given another mode; and of its first three names removed, renamed, given another owner, times and an
# attribute. None may work.
import os, stat
from attack import *

MEANT = ("/tmp", "/workspace", "/dev/shm", "/dev/mqueue", "/proc", "/sys")
done = 0


def refused(what, function, *args, **named):
    """Nothing that is refused is told one by one: there are thousands."""
    global done
    done += 1
    try:
        function(*args, **named)
    except OSError:
        return
    escaped(what)


def overwrite(path):
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))


for top, folders, names in os.walk("/", topdown=True, followlinks=False):
    folders[:] = [f for f in folders if os.path.join(top, f) not in MEANT]
    new = os.path.join(top, ".attack")
    refused("new file in " + top, os.mknod, new)
    refused("new folder in " + top, os.mkdir, new)
    refused("new link in " + top, os.symlink, "/etc/passwd", new)
    for name in names[:40] if top.startswith("/usr/") else names:
        path = os.path.join(top, name)
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            continue
        refused("overwrite " + path, overwrite, path)
        refused("mode of " + path, os.chmod, path, 0o777)
        if os.access(path, os.W_OK):
            escaped("may write " + path)
    for name in names[:3]:
        path = os.path.join(top, name)
        if stat.S_ISREG(os.lstat(path).st_mode):
            refused("remove " + path, os.remove, path)
            refused("rename " + path, os.rename, path, path + "~")
            refused("owner of " + path, os.chown, path, os.getuid(), os.getgid())
            refused("times of " + path, os.utime, path, (0, 0))
            refused("attribute of " + path, os.setxattr, path, "user.attack", b"x")
stopped("%d attempts on the image's paths" % done)
