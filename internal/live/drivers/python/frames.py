"""Frames: the lengths of a header and of a body, a header in JSON, a body."""
import json
import os
import struct

PREFIX = struct.Struct(">II")


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
