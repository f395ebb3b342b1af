#!/usr/bin/python3
"""The filters answer every call as the committed tables say, on x86_64 and
aarch64.

    test_golden.py BUILD_DIR SOURCE_DIR

Needs no root: the filters are interpreted (policy/simulate.c).  How to make the
tables anew: tests/escape/golden/README.md.
"""
import difflib
import os
import subprocess
import sys

BUILD, SOURCE = sys.argv[1], sys.argv[2]
failed = 0

for arch in ("x86_64", "aarch64"):
    done = subprocess.run([os.path.join(BUILD, "tests", "golden_table"), arch],
                          stdout=subprocess.PIPE, text=True, check=True)
    path = os.path.join(SOURCE, "tests", "escape", "golden", arch + ".txt")
    with open(path) as f:
        want = f.read()
    same = done.stdout == want
    print("%s every call of %s gets the answer of its table, %d numbers" %
          ("ok  " if same else "FAIL", arch, want.count("\n") - 1))
    if not same:
        failed = 1
        sys.stdout.writelines(difflib.unified_diff(
            want.splitlines(True), done.stdout.splitlines(True), path,
            "the filter", n=0))
sys.exit(failed)
