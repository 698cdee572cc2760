# Keys that the kernel keeps for the user, whom all sandboxes of the host share.
import os
from attack import *

attempt("add_key", call, "add_key", b"user", b"left", b"secret", 6, -4)
attempt("request_key", call, "request_key", b"user", b"left", None, -4)
for what, operation in (("join a session", 1), ("the id of the user's keyring", 0), ("link", 8), ("describe", 6), ("read", 11), ("capabilities", 31)):
    attempt("keyctl: " + what, call, "keyctl", operation, -4, 0, 0, 0)
