"""Process 1 of two: carries frames between the worker and the interpreter, its child, and looks after the files.

The interpreter runs the code. It has no way to the worker but through this process, which goes on when the code
kills or blocks the interpreter, so that what was written is not lost.
"""
import errno
import json
import os
import select
import shutil
import signal
import stat
import struct
import sys
import time
import zlib

import interpreter

PREFIX = struct.Struct(">II")
PIECE = 128 << 10
LONGEST_OUTPUT = 64 << 10
RACY = 50_000_000  # nanoseconds within which the kernel's clock may give two writes the same time


def frame(header, body=b""):
    header = json.dumps(header).encode()
    return PREFIX.pack(len(header), len(body)) + header + body


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


class Frames:
    """Takes a stream of frames apart."""

    def __init__(self, fd):
        self.fd, self.held = fd, bytearray()

    def read(self):
        """Reads once and returns the frames that are complete, or None at the end of the stream."""
        try:
            data = os.read(self.fd, 1 << 20)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        self.held += data
        frames = []
        while len(self.held) >= PREFIX.size:
            header, body = PREFIX.unpack_from(self.held)
            end = PREFIX.size + header + body
            if len(self.held) < end:
                break
            split = PREFIX.size + header
            frames.append((json.loads(bytes(self.held[PREFIX.size:split])), bytes(self.held[split:end])))
            del self.held[:end]
        return frames


class Counters:
    """What the kernel counts for the container."""

    def __init__(self, root="/sys/fs/cgroup"):
        self.v2 = os.path.exists(root + "/cgroup.controllers")
        if self.v2:
            names = {"cpu": "cpu.stat", "oom": "memory.events", "peak": "memory.peak", "now": "memory.current", "pids": "pids.events"}
        else:
            names = {
                "cpu": "cpuacct/cpuacct.usage", "user": "cpuacct/cpuacct.usage_user", "system": "cpuacct/cpuacct.usage_sys",
                "oom": "memory/memory.oom_control", "peak": "memory/memory.max_usage_in_bytes",
                "now": "memory/memory.usage_in_bytes", "pids": "pids/pids.events",
            }
        self.files = {}
        for key, name in names.items():
            try:
                self.files[key] = os.open(os.path.join(root, name), os.O_RDONLY)
            except OSError:
                pass  # not known to this kernel

    def text(self, key):
        try:
            return os.pread(self.files[key], 4096, 0).decode()
        except (KeyError, OSError):
            return ""

    def number(self, key, field=None):
        text = self.text(key)
        if field is None:
            return int(text or 0)
        for line in text.splitlines():
            name, _, value = line.partition(" ")
            if name == field:
                return int(value)
        return 0

    def read(self):
        if self.v2:
            scale, cpu = 1e6, ("usage_usec", "user_usec", "system_usec")
            total, user, system = (self.number("cpu", field) for field in cpu)
        else:
            scale = 1e9
            total, user, system = self.number("cpu"), self.number("user"), self.number("system")
        return {
            "total": total / scale, "user": user / scale, "system": system / scale, "peak": self.number("peak"),
            "oom": self.number("oom", "oom_kill"), "pids": self.number("pids", "max"),
        }

    def since(self, before):
        """What was used since before, with the exact total split as the kernel's samples are."""
        now = self.read()
        total, user, system = (max(0, now[key] - before[key]) for key in ("total", "user", "system"))
        own = total * user / (user + system) if user + system > 0 else total
        peak = now["peak"] if now["peak"] > before["peak"] else self.number("now")
        return {
            "user": own, "system": total - own, "peak": peak,
            "oom": now["oom"] - before["oom"], "pids": now["pids"] - before["pids"],
        }


def full_disk():
    for path in ("/tmp", "/workspace"):
        try:
            found = os.statvfs(path)
        except OSError:
            continue
        if found.f_bavail == 0 or (found.f_files > 0 and found.f_ffree == 0):
            return path
    return ""


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

    def begin(self):
        for path, status in self.walk():
            self.note(path, status)

    def note(self, path, status):
        seen = self.known[path] = Seen(status)
        if seen.racy():
            seen.digest = self.digest(path)

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
        while folders:
            folder = folders.pop()
            try:
                entries = os.scandir(os.path.join(self.root, folder))
            except OSError:
                continue
            with entries:
                for entry in entries:
                    path = folder + entry.name
                    left -= 1
                    if left < 0:
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
        for path, status in self.walk():
            old = before.get(path)
            self.note(path, status)
            seen = self.known[path]
            count += seen.regular
            if old is not None and old.signature == seen.signature and old.digest in (None, seen.digest or self.digest(path)):
                continue
            if not seen.regular:
                reason = next((text for test, text in KINDS if test(status.st_mode)), "is no regular file")
                refused.append({"path": readable(path), "reason": reason})
            elif not valid(path):
                refused.append({"path": readable(path), "reason": "its path is not UTF-8 or too long"})
            else:
                changed.append((path, status))
                total += status.st_size
        deleted = [path for path, seen in before.items() if seen.regular and path not in self.known and valid(path)]
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


class Driver:
    def __init__(self, settings):
        self.workspace = Workspace("/workspace", settings["quota"], settings["files"])
        self.counters = Counters()
        self.cell, self.before, self.started = 0, None, 0
        # Of the files that come before a cell: whether there were any, which is being written, and what went wrong.
        self.told, self.writing, self.trouble = False, None, None
        self.remind = None  # when an interrupt is sent once more
        to, back, out, err = (os.pipe() for _ in range(4))
        self.child = os.fork()
        if self.child == 0:
            interpreter.run(to[0], back[1], out[1], err[1], settings)
        os.close(to[0])
        os.close(back[1])
        # Our copies of the write ends of out and err stay open, so that these never end.
        self.worker_in, self.child_in, self.to_child = Frames(0), Frames(back[0]), to[1]
        self.streams = {out[0]: 1, err[0]: 2}
        os.set_blocking(self.child_in.fd, False)
        for fd in self.streams:
            os.set_blocking(fd, False)

    def run(self):
        # That the interpreter has ended does not show in its pipes: processes that it has forked hold them too.
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        for fd in (0, self.child_in.fd, woken):
            poll.register(fd, select.POLLIN)
        listening = False
        while True:
            # Between cells nobody reads what threads and other processes write: it comes with the next one.
            if listening != bool(self.cell):
                listening = not listening
                for fd in self.streams:
                    if listening:
                        poll.register(fd, select.POLLIN)
                    else:
                        poll.unregister(fd)
            if self.remind and time.monotonic() > self.remind:
                self.remind = None
                self.signal(signal.SIGINT)
            for fd, _ in poll.poll(100 if self.remind else None):
                if fd == 0:
                    if not self.take(self.worker_in, self.from_worker):
                        return
                elif fd == self.child_in.fd:
                    if not self.take(self.child_in, self.from_child):
                        poll.unregister(fd)
                        self.signal(signal.SIGKILL)  # it has closed its only way to be heard
                elif fd == woken:
                    os.read(woken, 4096)
                    self.look_after_child()
                elif self.cell:
                    self.forward(fd)

    @staticmethod
    def take(source, handle):
        """Handles the frames that have come and tells whether more can come."""
        frames = source.read()
        for header, body in frames or ():
            handle(header, body)
        return frames is not None

    def say(self, header, body=b""):
        write_all(1, frame(header, body))

    def forward(self, fd):
        """Sends a piece of a stream and tells whether there was one."""
        try:
            data = os.read(fd, LONGEST_OUTPUT)
        except BlockingIOError:
            return False
        self.say({"t": "out", "stream": self.streams[fd]}, data)
        return True

    def drain(self):
        """Sends what has been written by now. Others may go on writing for ever."""
        for fd in self.streams:
            left = 64  # more than the largest pipe that an unprivileged process can have
            while left > 0 and self.forward(fd):
                left -= 1

    def from_worker(self, header, body):
        kind = header["t"]
        if kind == "write":
            self.write(header, body)
        elif kind == "delete":
            self.workspace.delete(header["path"])
            self.told = True
        elif kind == "run":
            self.begin(header, body)
        elif kind == "interrupt" and header["cell"] == self.cell:
            self.signal(signal.SIGINT)
            self.remind = time.monotonic() + 0.4  # the interpreter may not even have begun
        elif kind == "kill" and header["cell"] == self.cell:
            self.signal(signal.SIGKILL)

    def write(self, header, body):
        """Writes a piece of a file. Nothing more is written of one that could not be."""
        path, more, first = header["path"], header.get("more", False), self.writing is None
        self.told = True
        if first or self.writing == path:
            self.writing = path
            try:
                self.workspace.write(path, body, header.get("exec", False), more, first)
            except OSError as e:
                self.trouble = self.trouble or "%s could not be written: %s" % (path, e.strerror)
                self.writing = ""
        if not more:
            self.writing = None

    def begin(self, header, body):
        self.cell = header["cell"]
        if self.told:
            self.say({"t": "began", "cell": self.cell})
        if self.trouble:
            self.say({"t": "out", "stream": 2}, (self.trouble + "\n").encode())
        header["files"], self.told, self.trouble = self.told, False, None
        self.before, self.started = self.counters.read(), time.monotonic()
        try:
            write_all(self.to_child, frame(header, body))
        except OSError:
            pass  # it has ended, which shows soon

    def signal(self, number):
        """Sends a signal to the interpreter's group, where the processes are that it waits for."""
        try:
            os.killpg(self.child, number)
        except OSError:
            os.kill(self.child, number)

    def from_child(self, header, body):
        kind = header["t"]
        if kind == "ready":
            shutil.rmtree("/workspace/.sandloop", ignore_errors=True)
            self.workspace.begin()
            self.say({"t": "hello", "version": 1})
        elif kind == "display" and self.cell:
            self.pieces({"t": "display", "mime": header["mime"][:100]}, [body])
        elif kind == "done" and header["cell"] == self.cell:
            end = header["trace"]
            self.finish({"t": "done", "status": header["status"], "code": header["code"]}, body[:end], body[end:])
            if header["status"] == "exit":
                self.signal(signal.SIGKILL)
                os._exit(header["code"] & 0xFF)

    def finish(self, header, trace=b"", value=b""):
        """Sends all that a cell did, and that it is over."""
        used = self.counters.since(self.before)
        used["wall"] = time.monotonic() - self.started
        if header.get("status") != "ok":
            used["full"] = full_disk()
        self.drain()
        for at in range(0, len(trace), LONGEST_OUTPUT):
            self.say({"t": "out", "stream": 2}, trace[at:at + LONGEST_OUTPUT])
        self.send_changes()
        self.say(dict(header, cell=self.cell, **used), value)
        self.cell, self.remind = 0, None

    def send_changes(self):
        changed, deleted, refused = self.workspace.changes()
        for path, status in changed:
            try:
                self.pieces({"t": "changed", "path": path, "exec": bool(status.st_mode & 0o100)}, self.workspace.content(path, status.st_size))
            except OSError as e:  # when it is opened, before a piece has been sent
                refused.append({"path": path, "reason": "cannot be read: %s" % e.strerror})
        for at in range(0, len(deleted), 8):
            self.say({"t": "deleted", "paths": deleted[at:at + 8]})
        more, refused = len(refused) - 100, refused[:100]
        if more > 0:
            refused.append({"path": ".", "reason": "%d more were refused" % more})
        for at in range(0, len(refused), 8):
            self.say({"t": "refused", "refused": refused[at:at + 8]})

    def pieces(self, header, parts):
        """Sends a body in pieces, all but the last with more."""
        held = b""
        for part in parts:
            for at in range(0, len(part), PIECE):
                if held:
                    self.say(dict(header, more=True), held)
                held = part[at:at + PIECE]
        self.say(header, held)

    def look_after_child(self):
        """Tells how the interpreter ended, if it did, and ends in the same way."""
        pid, status = os.waitpid(self.child, os.WNOHANG)
        if pid == 0:
            return
        self.take(self.child_in, self.from_child)  # its last words
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        if self.cell:
            self.finish({"t": "gone", "code": code})
        else:
            self.say({"t": "gone", "code": code})
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(code)


if __name__ == "__main__":
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    Driver(json.loads(sys.argv[1])).run()
