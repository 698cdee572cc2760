# The addresses at which clouds tell a machine its secrets.
import socket
from attack import *

for host, port in (("169.254.169.254", 80), ("169.254.170.2", 80), ("169.254.170.23", 80), ("100.100.100.200", 80), ("192.0.0.192", 80), ("168.63.129.16", 80),
                   ("168.63.129.16", 32526), ("fd00:ec2::254", 80), ("fd00:ec2::23", 80), ("fd20:ce::254", 80), ("::ffff:169.254.169.254", 80)):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as s:
        s.settimeout(2)
        attempt("connect to %s port %d" % (host, port), s.connect, (host, port))
