"""Counts the words of standard input and prints the most frequent ones."""
import argparse
import collections
import re
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--top", type=int, default=5)
top = parser.parse_args().top

words = re.findall(r"\w+", sys.stdin.read().lower())
ranking = sorted(collections.Counter(words).items(), key=lambda item: (-item[1], item[0]))
for word, count in ranking[:top]:
    print(f"{count:3} {word}")
