"""Tells whether the chosen stones are a right choice: validate.py input answer feedback_dir flags < output"""

import os
import re
import sys

RIGHT, WRONG, BROKEN = 42, 43, 1


def finish(code, for_judges, for_teams=None):
    for name, text in (("judgemessage.txt", for_judges), ("teammessage.txt", for_teams)):
        if text is not None:
            with open(os.path.join(sys.argv[3], name), "w") as file:
                file.write(text + "\n")
    sys.exit(code)


def reject(text):
    finish(WRONG, text, text)


def number(word, least, most, what):
    # int() refuses more than 4300 digits, so that long words are not even tried.
    if not re.fullmatch(rb"[0-9]{1,9}", word):
        reject(f"{what} is {word[:20]!r}: want a whole number")
    if not least <= int(word) <= most:
        reject(f"{what} is {int(word)}: want {least} to {most}")
    return int(word)


def is_impossible(words, any_case):
    return len(words) == 1 and (words[0].lower() if any_case else words[0]) == b"impossible"


any_case = sys.argv[4:] == ["any_case"]
if sys.argv[4:] and not any_case:
    finish(BROKEN, f"unknown flags {sys.argv[4:]}")
with open(sys.argv[1]) as file:
    n, load, *weights = map(int, file.read().split())
with open(sys.argv[2], "rb") as file:
    answer = file.read().split()
output = sys.stdin.buffer.read().split()

if not output:
    reject("the output is empty")
if is_impossible(output, any_case):
    if is_impossible(answer, any_case):
        finish(RIGHT, "impossible")
    finish(WRONG, "there is a choice")
count = number(output[0], 1, n, "the count")
if len(output) - 1 != count:
    reject(f"{count} stones are announced and {len(output) - 1} are given")
chosen = [number(word, 1, n, "a stone") for word in output[1:]]
for stone in chosen:
    if chosen.count(stone) > 1:
        reject(f"stone {stone} is chosen twice")
total = sum(weights[stone - 1] for stone in chosen)
if total != load:
    finish(WRONG, f"the stones weigh {total}, want {load}")
if is_impossible(answer, any_case):
    finish(BROKEN, "the answer file says impossible, and the output is right")
finish(RIGHT, f"{count} stones")
