"""tests/bench/screen prints its table; never a judgement of time.

Run as: python3 test_screen.py BUILD_DIR SOURCE_DIR.
"""
import os
import re
import subprocess
import sys

BUILD, SOURCE = sys.argv[1], sys.argv[2]


def main():
    done = subprocess.run(["/usr/bin/python3", "-B", os.path.join(SOURCE, "tests/bench/screen"), BUILD, "--rounds", "1"],
                          text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
    print(done.stdout + done.stderr)
    rows = re.findall(r"(?m)^(\w+), .* \d+ +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +\d+ +-?[\d.]+$", done.stdout)
    ok = done.returncode == 0 and len(rows) == 10 and rows[0] == "python"
    print("%s the table has Python's library and every language" % ("ok  " if ok else "FAIL"))
    return 0 if ok else 1


sys.exit(main())
