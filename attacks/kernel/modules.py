# Code in the kernel, another kernel, the end of this one, and the ports of the machine.
import ctypes, os
from attack import *

attempt("init_module", call, "init_module", b"\x7fELF", 4, b"")
fd = os.open("/etc/passwd", os.O_RDONLY)
attempt("finit_module", call, "finit_module", fd, b"", 0)
attempt("delete_module", call, "delete_module", b"overlay", 0)
attempt("kexec_load", call, "kexec_load", 0, 0, None, 0)
attempt("reboot", call, "reboot", 0xFEE1DEAD, 672274793, 0x89ABCDEF, None)  # enables Ctrl-Alt-Del, which harms nobody
attempt("syslog", call, "syslog", 3, ctypes.create_string_buffer(4096), 4096)
attempt("clear the log", call, "syslog", 5, None, 0)
if X86:
    attempt("iopl", call, "iopl", 3)
    attempt("ioperm", call, "ioperm", 0x80, 1, 1)
    attempt("uselib", call, "uselib", b"/lib64/ld-linux-x86-64.so.2")
    attempt("capset", call, "capset", (ctypes.c_uint * 2)(0x20080522, 0), (ctypes.c_uint * 6)(0xFFFFFFFF, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0))
