# Has pytest run the test files that are its arguments, and counts.
import sys

nonce = sys.stdin.readline().strip()
import json
import os

os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def report(**fields):
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    line = ("\n%s %s\n" % (nonce, json.dumps(fields))).encode()
    while line:
        line = line[os.write(1, line):]
    os._exit(0)  # what the submission registered to run at the end must not write after the report


class Tally:
    def __init__(self):
        self.passed, self.failed, self.broken = 0, [], []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            if report.nodeid not in self.failed:
                self.failed.append(report.nodeid)
        elif report.passed and report.when == "call":
            self.passed += 1

    def pytest_collectreport(self, report):
        if report.failed:
            lines = str(report.longrepr).strip().splitlines() or [""]
            self.broken.append("%s: %s" % (report.nodeid, lines[-1][:500]))


try:
    import pytest
except ImportError:
    report(passed=0, error="pytest is not in the image of the language python: an operator can name an image that has it")
tally = Tally()
files, sys.argv[1:] = sys.argv[1:], []
code = int(pytest.main(["-q", "-p", "no:cacheprovider", "--tb=short", "--rootdir=.", *files], plugins=[tally]))
if tally.broken:
    report(passed=tally.passed, failed=tally.failed, error="; ".join(tally.broken))
if code == 5:
    report(passed=0, error="there are no tests in %s" % ", ".join(files))
if code not in (0, 1):
    report(passed=tally.passed, failed=tally.failed, error="pytest ended with code %d" % code)
report(passed=tally.passed, failed=tally.failed)
