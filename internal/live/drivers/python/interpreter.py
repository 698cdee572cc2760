"""Process 2 of two: runs cells of code one after the other in one namespace."""
import ast
import builtins
import __future__
import importlib
import importlib.util
import io
import json
import linecache
import os
import signal
import sys
import traceback
import types

from frames import PREFIX, frame, write_all

OWN = os.path.dirname(__file__) + "/"
KEPT_SOURCES = 1000
ALL_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def run(control_in, control_out, out, err, settings):
    """Never returns. The four descriptors are pipes: cells come, results go, and what the code writes."""
    keep = {0, 1, 2, control_in, control_out, out, err}
    for fd in range(3, max(keep) + 32):
        if fd not in keep:
            try:
                os.close(fd)
            except OSError:
                pass
    os.setsid()
    for name, module in list(sys.modules.items()):  # files of these names are the code's
        if (getattr(module, "__file__", None) or "").startswith(OWN):
            del sys.modules[name]
    code = 1
    try:
        Interpreter(control_in, control_out, {1: out, 2: err}, settings).serve()
        code = 0
    except (OSError, EOFError):
        pass  # the code has closed what only we use
    finally:
        os._exit(code)


class Interpreter:
    def __init__(self, control_in, control_out, outputs, settings):
        self.control_in, self.control_out, self.outputs, self.settings = control_in, control_out, outputs, settings
        self.running, self.process = False, os.getpid()
        # What the code imports from __future__ counts for the cells after it, too.
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.loop = None
        self.sources = []
        self.had_stdin = True
        self.main = types.ModuleType("__main__")
        self.main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.main
        sys.argv = [""]
        sys.path[0] = "/workspace"
        sys.dont_write_bytecode = True
        for name in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, signal.SIG_DFL)
        self.figures = Figures(self.display, settings["figures"])
        builtins.display = self.display
        self.new_streams()

    def interrupted(self, *_):
        if self.running:
            raise KeyboardInterrupt

    def new_streams(self):
        """Makes the standard streams. A line of output is written when it is complete, so that a kill does not lose it."""
        def stream(fd, errors):
            raw = io.FileIO(fd, "w", closefd=False)
            return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors=errors, line_buffering=True)
        self.stdout, self.stderr = stream(1, "surrogateescape"), stream(2, "backslashreplace")
        sys.stdout = sys.__stdout__ = self.stdout
        sys.stderr = sys.__stderr__ = self.stderr

    def serve(self):
        self.say({"t": "ready"})
        while True:
            header, body = self.hear()
            split = header["source"]
            self.prepare(header, body[split:])
            self.cell(header["cell"], header.get("name") or "<cell>", body[:split])

    def hear(self):
        header, body = PREFIX.unpack(self.read(PREFIX.size))
        header = json.loads(self.read(header))
        return header, self.read(body)

    def read(self, size):
        data = bytearray()
        while len(data) < size:
            piece = os.read(self.control_in, size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def say(self, header, body=b""):
        write_all(self.control_out, frame(header, body))

    def prepare(self, header, stdin):
        """Sets up what the code before may have closed or replaced, and stdin."""
        signal.signal(signal.SIGINT, self.interrupted)
        for fd, pipe in self.outputs.items():
            try:
                same = os.path.sameopenfile(fd, pipe)
            except OSError:
                same = False
            if not same:
                os.dup2(pipe, fd)
        if unusable("stdout") or unusable("stderr"):
            self.new_streams()
        if stdin or self.had_stdin or unusable("stdin") or not is_open(0):
            fd = os.memfd_create("stdin")
            if fd > 0:  # else 0 was free
                os.dup2(fd, 0)
                os.close(fd)
            os.set_inheritable(0, True)
            write_all(0, stdin)
            os.lseek(0, 0, os.SEEK_SET)
            self.had_stdin = bool(stdin)
            sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8", errors="surrogateescape")
        if header["files"]:
            importlib.invalidate_caches()

    def cell(self, number, name, source):
        status, code, trace, value = "ok", 0, "", ""
        try:
            self.running = True
            try:
                value = self.execute(name, source)
            finally:
                self.running = False
        except SystemExit as e:
            status, code, trace = "exit", *exit_code(e)
        except BaseException as e:  # whatever the code raises
            status, code, trace = "error", 1, describe(e)
        if os.getpid() != self.process:  # a fork of ours, which must not go on to the next cell
            self.flush()
            os._exit(code)
        trace += self.figures.flush()
        self.flush()
        trace, value = cut(trace, 1 << 18), cut(value, self.settings["values"])
        self.say({"t": "done", "cell": number, "status": status, "code": code, "trace": len(trace)}, trace + value)

    def flush(self):
        for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None), self.stdout, self.stderr):
            try:
                stream.flush()
            except Exception:  # whatever the code has put there
                pass

    def execute(self, name, source):
        """Runs the code and returns its last expression as text."""
        text = source.decode("utf-8-sig", "replace")
        self.remember(name, text)
        tree = compile(text, name, "exec", self.flags | ast.PyCF_ONLY_AST, True)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        if tree.body:
            self.evaluate(compile(tree, name, "exec", self.flags, True))
        if last is None:
            return ""
        value = self.evaluate(compile(last, name, "eval", self.flags, True))
        if value is None:
            return ""
        builtins._ = value
        return self.show(value)

    def evaluate(self, code):
        self.flags |= code.co_flags & ALL_FUTURES
        result = eval(code, self.main.__dict__)
        if not code.co_flags & 0x80:  # CO_COROUTINE
            return result
        import asyncio  # takes long, and most code needs it not
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(result)
        try:
            return self.loop.run_until_complete(task)
        finally:
            if not task.done():  # interrupted
                task.cancel()
                self.loop.run_until_complete(asyncio.gather(task, return_exceptions=True))

    def remember(self, name, text):
        """Lets tracebacks and inspect show the source."""
        if name not in linecache.cache:
            self.sources.append(name)
        lines = (text + "\n").splitlines(True)  # as linecache does, for the marks below a line are right only then
        linecache.cache[name] = (len(text), None, lines, name)
        if len(self.sources) > KEPT_SOURCES:
            linecache.cache.pop(self.sources.pop(0), None)

    def show(self, value):
        """A value as text; a picture of it is displayed."""
        picture = self.picture(value)
        if picture is not None:
            self.say({"t": "display", "mime": picture[0]}, picture[1])
        return textual(value)

    def display(self, *values, **_):
        """Shows values before the cell has ended: pictures and text."""
        self.flush()
        for value in values:
            picture = self.picture(value)
            if picture is None:
                kind, data = "text/plain", cut(textual(value), self.settings["values"])
            else:
                kind, data = picture
            self.say({"t": "display", "mime": kind}, data)

    def picture(self, value):
        """The media type and the bytes of what a value shows as a picture, or None."""
        if isinstance(value, type):
            return None
        figure = self.figures.draw(value)
        if figure is not None:
            return "image/png", figure
        for name, kind in (("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg"), ("_repr_svg_", "image/svg+xml")):
            method = getattr(value, name, None)
            data = method() if callable(method) else None
            if isinstance(data, tuple):  # data and metadata
                data = data[0]
            if isinstance(data, str):
                data = data.encode()
            if isinstance(data, bytes) and len(data) <= self.settings["figures"]:
                return kind, data
        return None


class Figures:
    """Displays the figures of matplotlib, once the code has imported that."""

    def __init__(self, display, most):
        self.display, self.most, self.finding = display, most, False
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        """Is asked for each import, and has the module's own loader followed by a change to show()."""
        if name != "matplotlib.pyplot" or self.finding:
            return None
        self.finding = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.finding = False
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                module.show = lambda *_, **__: self.show()  # matplotlib gives it attributes
            spec.loader.exec_module = exec_module
        return spec

    def draw(self, value):
        """A figure as PNG; None for what is none."""
        module = sys.modules.get("matplotlib.figure")
        if module is None or not isinstance(value, module.Figure):
            return None
        plt = sys.modules.get("matplotlib.pyplot")
        if plt is not None:
            plt.close(value)  # or it would be shown again
        data = io.BytesIO()
        value.savefig(data, format="png", bbox_inches="tight")
        return data.getvalue() if data.tell() <= self.most else None

    def show(self):
        """Displays all open figures and closes them."""
        plt = sys.modules["matplotlib.pyplot"]
        for number in plt.get_fignums():
            self.display(plt.figure(number))

    def flush(self):
        """Displays what is left open when a cell has ended; returns what went wrong."""
        plt = sys.modules.get("matplotlib.pyplot")
        if plt is None or not hasattr(plt, "get_fignums"):
            return ""
        try:
            self.show()
            return ""
        except BaseException as e:  # a figure can run code, too
            try:
                plt.close("all")
            except BaseException:
                pass
            return describe(e)


def is_open(fd):
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False


def unusable(name):
    """Tells whether a standard stream is gone or closed. What the code has put there may know neither."""
    stream = getattr(sys, name, None)
    try:
        return stream is None or bool(getattr(stream, "closed", False))
    except Exception:
        return True


def textual(value):
    """What repr says, but tables as wide as they are."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and hasattr(pandas, "DataFrame") and isinstance(value, (pandas.DataFrame, pandas.Series)):
        columns = pandas.get_option("display.max_columns") or 20  # 0 is what fits into a terminal
        with pandas.option_context("display.width", 1000, "display.max_columns", columns):
            return repr(value)
    return repr(value)


def exit_code(e):
    """The exit code of SystemExit and what goes to stderr with it."""
    if e.code is None:
        return 0, ""
    if isinstance(e.code, int):
        return e.code & 0xFF, ""
    return 1, "%s\n" % (e.code,)


def describe(e):
    """The traceback of an exception without our own frames."""
    try:
        found = traceback.TracebackException(type(e), e, e.__traceback__)
        leave_us_out(found)
        if not found.stack:  # of a cell that was not even compiled
            return "".join(found.format_exception_only())
        return "".join(found.format())
    except BaseException as worse:  # str() of an exception is the code's
        return "%s: its traceback cannot be shown: %s\n" % (type(e).__name__, type(worse).__name__)


def leave_us_out(found):
    found.stack[:] = [entry for entry in found.stack if not entry.filename.startswith(OWN)]
    for other in (found.__cause__, found.__context__, *(getattr(found, "exceptions", None) or ())):
        if other is not None:
            leave_us_out(other)


def cut(text, size):
    """The bytes of a text, head and tail of a long one."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= size:
        return data
    half = size // 2 - 50
    note = "\n[... %d of %d bytes not kept ...]\n" % (len(data) - 2 * half, len(data))
    return data[:half].decode("utf-8", "ignore").encode() + note.encode() + data[-half:].decode("utf-8", "ignore").encode()
