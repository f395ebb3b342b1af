"""tests/bench/policy prints its table, and a wrong answer fails it: short, no
peers, no judgement of time.

Run as: python3 test_policy.py BUILD_DIR SOURCE_DIR.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE = sys.argv[1], sys.argv[2]
failures = 0


def case(name, ok, detail=""):
    global failures
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": %r" % detail))
    failures += not ok


def main():
    done = subprocess.run(
        ["/usr/bin/python3", "-B", os.path.join(SOURCE, "tests/bench/policy"),
         BUILD, "--seconds", "0.05", "--rounds", "2", "--no-peers"],
        text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
        check=False)
    print(done.stdout + done.stderr)
    for name, pattern in (
            ("names kernel and rounds", r"^Linux \S+, .*, 2 rounds$"),
            ("has the decoded requests", r"(?m)^bailiff, decoded +\d+ +\d+"),
            ("has the requests in JSON", r"(?m)^bailiff, from JSON +\d+ +\d+")):
        case("the table " + name, done.returncode == 0 and
             re.search(pattern, done.stdout, re.M), done)
    with open(os.path.join(SOURCE, "tests/bench/peers/policy.json"),
              encoding="utf-8") as f:
        policy = json.load(f)
    policy["paths"]["read"].append("/job/input")
    with tempfile.TemporaryDirectory(prefix="bailiff-test-") as work:
        path = os.path.join(work, "other.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(policy, f)
        os.chmod(path, 0o644)
        done = subprocess.run(
            [os.path.join(BUILD, "tests/policy_bench"), path,
             os.path.join(BUILD, "share/bailiff/languages"), "json", "0.01"],
            text=True, capture_output=True, timeout=60, check=False)
        case("a decision that is not the expected one is not timed",
             done.returncode == 1 and done.stdout == "" and
             "/job/input/a" in done.stderr, done)
    return 1 if failures else 0


sys.exit(main())
