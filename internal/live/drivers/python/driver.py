"""Process 1 of two: carries frames between the worker and the interpreter, its child, and looks after the files.

The interpreter runs the code. It has no way to the worker but through this process, which goes on when the code
kills or blocks the interpreter, so that what was written is not lost.
"""
import json
import os
import select
import shutil
import signal
import sys
import time

import interpreter
from counters import Counters, full_disk
from frames import Frames, frame, write_all
from workspace import PIECE, Workspace

LONGEST_OUTPUT = 64 << 10


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
