# AF_ALG: the kernel's ciphers, with a history of holes.
import socket
from attack import *

try:
    s = socket.socket(38, socket.SOCK_SEQPACKET, 0)
    escaped("socket of AF_ALG")
    for kind, name in (("hash", "sha256"), ("skcipher", "cbc(aes)"), ("aead", "gcm(aes)"), ("rng", "stdrng")):
        attempt(kind + " " + name, s.bind, (kind, name))
except OSError as e:
    stopped("socket of AF_ALG", reason(e))
