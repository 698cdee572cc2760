"""Writes bytes that are not text: they come back as they are."""
import sys

sys.stdout.buffer.write(b"\xff\xfe ok \x80\x00\n")
