"""tests/bench/mcp prints its table; short, no judgement of time, but memory
that grows with the number of calls fails it.

Run as: python3 test_mcp.py BUILD_DIR SOURCE_DIR.
"""
import os
import re
import subprocess
import sys

BUILD, SOURCE = sys.argv[1], sys.argv[2]

if os.geteuid() != 0:
    print("skipped: needs root, this is uid %d" % os.geteuid())
    sys.exit(77)
done = subprocess.run(["/usr/bin/python3", "-B", os.path.join(SOURCE, "tests/bench/mcp"), BUILD, "--calls", "20"],
                      text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)
print(done.stdout + done.stderr)
rows = re.findall(r"(?m)^\S.*? +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d +\d+$", done.stdout)
memory = re.search(r"bailiff-mcp: (\d+) KiB before, (\d+) KiB after", done.stdout)
failed = 0
for name, ok in (("the table has a row for each kind of call", done.returncode == 0 and len(rows) == 8),
                 ("memory is flat", memory is not None and int(memory.group(2)) < int(memory.group(1)) + 2048)):
    print(("ok   " if ok else "FAIL ") + name)
    failed += not ok
sys.exit(1 if failed else 0)
