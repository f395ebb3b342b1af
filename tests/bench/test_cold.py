"""tests/bench/cold prints its table: two rounds, no judgement of time.

Run as: python3 test_cold.py BUILD_DIR SOURCE_DIR.
"""
import os
import re
import subprocess
import sys

BUILD, SOURCE = sys.argv[1], sys.argv[2]


def main():
    if os.geteuid() != 0:
        print("skipped: needs root, this is uid %d" % os.geteuid())
        return 77
    done = subprocess.run(
        ["/usr/bin/python3", "-B", os.path.join(SOURCE, "tests/bench/cold"),
         BUILD, "--rounds", "2"], text=True, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=500, check=False)
    print(done.stdout + done.stderr)
    failed = 0
    for name, pattern in (
            ("names kernel and rounds", r"^Linux \S+, .*, 2 rounds$"),
            ("has a row of the confinement for each subject",
             r"(?s)true.*confinement alone +-?\d.*bash.*confinement alone "
             r"+-?\d.*python.*confinement alone +-?\d"),
            ("has a row of the whole run for each language",
             r"(?s)bash.*bailiff run +-?\d.*python.*bailiff run +-?\d"),
            ("has the run without its trace, and what starting takes",
             r"(?s)bash.*bailiff run untraced +-?\d.*starts its service, ms: traced median \d+.*untraced median \d+"),
            ("has bubblewrap's row or says that it is not there",
             r"(?m)^ +bwrap +-?\d|no bwrap here"),
            ("has the steps of the record",
             r"(?s)steps of bailiff run, bash.*build +\d.*, python.*build"),
    ):
        ok = done.returncode == 0 and re.search(pattern, done.stdout, re.M)
        print(("ok   " if ok else "FAIL ") + "the table " + name)
        failed += not ok
    return 1 if failed else 0


sys.exit(main())
