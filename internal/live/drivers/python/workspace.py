"""The files of a session: what has changed, and what is put there."""
import errno
import os
import shutil
import stat
import time
import zlib

from frames import write_all

PIECE = 128 << 10
RACY = 50_000_000  # nanoseconds within which the kernel's clock may give two writes the same time


class Seen:
    """A file as it was when it was looked at."""

    __slots__ = ("signature", "digest", "regular")

    def __init__(self, status):
        self.signature = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)
        self.regular = stat.S_ISREG(status.st_mode)
        # Of a file that was changed just now a later change may show the same times.
        self.digest = None

    def racy(self):
        return self.regular and time.time_ns() - self.signature[2] < RACY


KINDS = (
    (stat.S_ISLNK, "is a link"), (stat.S_ISFIFO, "is a FIFO"), (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"), (stat.S_ISBLK, "is a device"),
)


class Workspace:
    """Tells what has changed below a folder."""

    ours = (".sandloop", ".sandloop-out")

    def __init__(self, root, quota, most):
        self.root, self.quota, self.most = root, quota, most
        self.known = {}
        # Of the last walk: folders that could not be read, and whether there was more than it looks at.
        self.closed, self.cut = [], False

    def begin(self):
        for path, status in self.walk():
            self.note(path, status)

    def mapped(self):
        """The files that processes can write to through memory, which the times of a file need not show."""
        found = set()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if int(pid) == os.getpid():  # we map none
                continue
            try:
                with open("/proc/%s/maps" % pid, "rb") as maps:
                    lines = [line for line in maps if b" rw-s " in line or b" rwxs " in line]
            except OSError:
                continue
            for line in lines:
                path = os.fsdecode(line.split(None, 5)[-1].rstrip(b"\n"))
                if path.startswith(self.root + "/"):
                    found.add(path[len(self.root) + 1:])
        return found

    def note(self, path, status, mapped=()):
        seen = self.known[path] = Seen(status)
        if seen.racy() or path in mapped:
            seen.digest = self.digest(path)

    def same(self, path, old, seen, mapped):
        if old.signature != seen.signature or (mapped and old.digest is None):
            return False
        return old.digest is None or old.digest == (seen.digest or self.digest(path))

    def digest(self, path):
        found = 0
        try:
            for piece in self.content(path):
                found = zlib.crc32(piece, found)
        except OSError:
            return None
        return found

    def content(self, path, most=float("inf")):
        """The pieces of a regular file, of the size that it has when it is opened, up to most."""
        fd = os.open(os.path.join(self.root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "is no regular file any more")
            left = min(status.st_size, most)
            while left > 0:
                piece = os.read(fd, min(PIECE, left))
                if not piece:
                    return
                left -= len(piece)
                yield piece
        finally:
            os.close(fd)

    def walk(self):
        """All files but ours, up to a number at which nothing is sent anyway."""
        folders, left = [""], 4 * self.most + 10_000
        self.closed, self.cut = [], False
        while folders:
            folder = folders.pop()
            try:
                entries = os.scandir(os.path.join(self.root, folder))
            except FileNotFoundError:
                continue
            except OSError:
                self.closed.append(folder)
                continue
            with entries:
                for entry in entries:
                    path = folder + entry.name
                    left -= 1
                    if left < 0:
                        self.cut = True
                        return
                    if path in self.ours:
                        continue
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    if stat.S_ISDIR(status.st_mode):
                        folders.append(path + "/")
                    else:
                        yield path, status

    def write(self, path, data, executable, more_to_come, first):
        full = os.path.join(self.root, path)
        if first:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            self.delete(path)  # a link or a folder that the code has put in the way
        fd = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        try:
            write_all(fd, data)
            if not more_to_come:
                os.fchmod(fd, 0o755 if executable else 0o644)
                self.note(path, os.fstat(fd))
        finally:
            os.close(fd)

    def delete(self, path):
        """Removes a file or a folder, or all there is for a dot."""
        if path == ".":
            for name in os.listdir(self.root):
                self.delete(name)
            self.known.clear()
            return
        full = os.path.join(self.root, path)
        try:
            os.unlink(full)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            shutil.rmtree(full, ignore_errors=True)
        if self.known.pop(path, None) is None:  # perhaps a folder
            for below in [name for name in self.known if name.startswith(path + "/")]:
                del self.known[below]

    def changes(self):
        """The changed and the deleted paths and refused files since the last time; nothing but one refused if they are too many."""
        before, self.known = self.known, {}
        changed, refused, total, count = [], [], 0, 0
        found = list(self.walk())
        # To ask for the mappings takes as long as all the rest of a short cell.
        mapped = self.mapped() if any(stat.S_ISREG(status.st_mode) and status.st_size for _, status in found) else ()
        for path, status in found:
            old = before.get(path)
            self.note(path, status, mapped)
            seen = self.known[path]
            count += seen.regular
            if old is not None and self.same(path, old, seen, path in mapped):
                continue
            if not seen.regular:
                reason = next((text for test, text in KINDS if test(status.st_mode)), "is no regular file")
                refused.append({"path": readable(path), "reason": reason})
            elif not valid(path):
                refused.append({"path": readable(path), "reason": "its path is not UTF-8 or too long"})
            else:
                changed.append((path, status))
                total += status.st_size
        for folder in self.closed:  # nobody knows what has become of what lies in it
            refused.append({"path": readable(folder.rstrip("/") or "."), "reason": "cannot be read"})
            self.known.update((path, seen) for path, seen in before.items() if path.startswith(folder))
        deleted = [path for path, seen in before.items() if seen.regular and path not in self.known and valid(path)]
        if self.cut:
            return [], [], [limited("more files and folders are in the workspace than are looked at")]
        if count > self.most:
            return [], [], [limited("more than %d files are in the workspace" % self.most)]
        if total > self.quota:
            return [], [], [limited("changed files have %d bytes: at most %d are kept" % (total, self.quota))]
        return changed, deleted, refused


def limited(reason):
    return {"path": ".", "reason": reason, "limit": True}


def valid(path):
    try:
        return len(path.encode()) <= 1024
    except UnicodeEncodeError:
        return False


def readable(path):
    return os.fsencode(path).decode("utf-8", "replace")[:500]
