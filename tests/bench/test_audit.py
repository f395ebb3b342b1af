"""tests/bench/audit prints its table: one round, no judgement of time.

Run as: python3 test_audit.py BUILD_DIR SOURCE_DIR.
"""
import os
import re
import subprocess
import sys

BUILD, SOURCE = sys.argv[1], sys.argv[2]
done = subprocess.run([os.path.join(SOURCE, "tests/bench/audit"), BUILD, "--rounds", "1", "--records", "2000"],
                      text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=500, check=False)
print(done.stdout + done.stderr)
failed = 0
for name, pattern in (("one client beside a bare append", r"(?m)^one client.*append \+ fdatasync +\d.*adds +-?\d"),
                      ("many clients beside the raw append of equal groups", r"(?m)^64 clients.*of the raw rate, p99"),
                      ("verifying, fast and deep", r"(?s)verify, fast.*a million in +\d.*verify, deep.*a million in +\d"),
                      ("proving and checking", r"(?m)^prove one of them +\d.*check +\d")):
    ok = done.returncode == 0 and re.search(pattern, done.stdout)
    print(("ok   " if ok else "FAIL ") + "the table has " + name)
    failed += not ok
sys.exit(1 if failed else 0)
