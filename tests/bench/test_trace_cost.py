"""tests/bench/trace prints its table: two rounds, no judgement of time.

Run as: python3 test_trace_cost.py BUILD_DIR SOURCE_DIR.
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
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        print("skipped: this kernel has no BTF (/sys/kernel/btf/vmlinux)")
        return 77
    done = subprocess.run(
        ["/usr/bin/python3", "-B", os.path.join(SOURCE, "tests/bench/trace"), BUILD, "--rounds", "2", "--programs", "2",
         "--adds", "20"],
        text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=500, check=False)
    print(done.stdout + done.stderr)
    failed = 0
    for name, pattern in (
            ("names kernel and load", r"^Linux \S+, .* processors, load"),
            ("has a call without and with a tracer, and beside it", r"(?s)no tracer +\d+\n.*another process +[+-]\d+\n.*traced +[+-]\d+"),
            ("has python's start, paired, with the computed cost", r"(?s)python3 -c pass: \d+ calls, \d+ events.*computed \d"),
            ("has what adding a run takes", r"(?m)^A run, us, of 20: WATCH to WATCHING median \d+, least \d+, .*FINISH to FINISHED median \d+"),
    ):
        ok = done.returncode == 0 and re.search(pattern, done.stdout, re.M)
        print(("ok   " if ok else "FAIL ") + "the table " + name)
        failed += not ok
    return 1 if failed else 0


sys.exit(main())
