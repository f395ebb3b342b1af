"""`audit verify --results` and the kept texts of the policies that records name: each there, each what its name says.

Run as: python3 test_policies.py BUILD_DIR SOURCE_DIR.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vectors  # noqa: E402
from signer_harness import AUDITOR, Log, check, finish  # noqa: E402

TOP = tempfile.mkdtemp(prefix="bailiff-policies-")
GOLDEN = vectors.golden()
TEXT = b"effective policy v1\n"
NAME = next(n for n in GOLDEN if n.startswith("policies/"))
HEX = NAME[len("policies/"):-len(".json")]
RUN = "%032x"


def fresh():
    """A state directory of the golden log; the path of its one policy."""
    shutil.rmtree(f"{TOP}/s", ignore_errors=True)
    vectors.write(GOLDEN, f"{TOP}/s/audit")
    for name in ("results", "policies"):
        shutil.move(f"{TOP}/s/audit/{name}", f"{TOP}/s/{name}")
    return f"{TOP}/s/{NAME}"


def verify(*words):
    done = subprocess.run([AUDITOR, "verify", f"{TOP}/s", "--key", GOLDEN["vkey"].decode().strip(), *words], cwd=TOP,
                          env={}, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def told(text, level, name):
    return [line for line in text.splitlines() if line.startswith(level + "  ") and line.split()[1] == name]


def kept():
    path = fresh()
    with open(path, "rb") as f:
        check(f.read() == TEXT, "the golden log's policy is kept")
    for words in (["--results"], [f"--results={TOP}/s/results"], ["--results", "--strict", "--deep"]):
        code, text = verify(*words)
        check(code == 0 and len(told(text, "PASS", "policies")) == 1 and " 1 policies that " in text,
              f"a text that is what its name says: 0, said once; {' '.join(words)}: {code}")
    for other in ("notes", "0" * 64 + ".json"):
        with open(f"{TOP}/s/policies/{other}", "wb") as f:
            f.write(b"x")
    check(verify("--results", "--strict")[0] == 0, "what no record names is not looked at")


def changed():
    bad = []
    for data in (TEXT[:-1], TEXT + b"\n", b"", b"E" + TEXT[1:], b"x" * (8 << 20)):
        path = fresh()
        with open(path, "wb") as f:
            f.write(data)
        code, text = verify("--results", "--json")
        found = [f for f in json.loads(text)["findings"] if f["check"] == "policies.file"]
        if code != 1 or len(found) != 1 or found[0]["expected"] != HEX or NAME not in found[0]["found"] or "offset" not in found[0]:
            bad.append((len(data), code, found))
        line = told(verify("--results")[1], "FAIL", "policies.file")
        if len(line) != 1 or not re.search(r"record \d+ at byte \d+: expected %s; found policies/" % HEX, line[0]):
            bad.append(line)
        if verify()[0] != 0:
            bad.append("judged without --results")
    check(not bad, f"other bytes: 1, with record, byte, expected and found {bad or ''}")
    with open(fresh(), "r+b") as f:
        f.truncate(1 << 40)
    code, text = verify("--results")
    check(code == 1 and "more than 8388608 bytes" in text, f"a file of a terabyte is read to its bound: {code}")


def listener(path):
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(os.path.basename(path))
    os.chdir(here)


def odd_files():
    path = fresh()
    shutil.copy(path, f"{TOP}/same")
    for kind, make in (("FIFO", os.mkfifo), ("link", lambda p: os.symlink(f"{TOP}/same", p)), ("folder", os.mkdir),
                       ("socket", listener), ("device", lambda p: os.mknod(p, 0o020600, os.makedev(1, 5)))):
        path = fresh()
        os.unlink(path)
        try:
            make(path)
        except PermissionError:
            print(f"skip  a {kind}: not permitted here")
            continue
        code, text = verify("--results")
        check(code == 1 and len(told(text, "FAIL", "policies.kind")) == 1,
              f"a {kind} in a policy's place, even with its bytes behind it: 1, and nothing waits: {code}")


def folder():
    path = fresh()
    os.unlink(path)
    code, text = verify("--results")
    line = told(text, "FAIL", "policies.lost")
    check(code == 1 and len(line) == 1 and HEX in line[0] and " at byte " in line[0],
          f"missing where every boot stopped cleanly: 1, named: {code}")
    os.rmdir(os.path.dirname(path))
    code, text = verify("--results")
    check(code == 0 and len(told(text, "WARN", "policies")) == 1 and not told(text, "PASS", "policies"),
          f"a copy without policies/ is a warning in one line: {code}")
    check(verify("--results", "--strict")[0] == 3, "and 3 with --strict")
    check(verify("--strict")[0] == 0, "without --results nobody asked")
    for make in (lambda p: os.symlink(TOP, p), lambda p: open(p, "wb").close()):
        make(os.path.dirname(path))
        code, text = verify("--results")
        check(code == 2 and "policies/" in text, f"a link or a file in place of the folder: 2, and why: {code}")
        os.unlink(os.path.dirname(path))


def crashed():
    """The signer's own log: which boot named a policy last decides what its absence is."""
    log = Log()
    try:
        for name in ("results", "policies"):
            os.mkdir(log.path(name))
        look = ("--results", log.path("results"))
        log.start("--linger-ms", "60000")
        log.say("denial " + RUN % 1, options=("policy=07",))
        log.say("denial " + RUN % 2, options=("policy=07",))
        log.kill()
        code, text = log.verify(*look)
        line = told(text, "FAIL", "policies.lost")
        check(log.verify()[0] == 0 and code == 5 and len(line) == 1 and "07" + "00" * 31 in line[0] and
              "without a clean stop" in line[0], f"missing after a crash: INCOMPLETE, once, with the first record: {code}")
        log.start("--linger-ms", "60000")
        log.say("denial " + RUN % 3, options=("policy=07",))
        log.stop()
        check(log.verify(*look)[0] == 1, "named again in a boot that stopped cleanly: TAMPERED")
        log.start("--linger-ms", "60000")
        log.say("denial " + RUN % 4, options=("policy=08",))
        log.stop()
        code, text = log.verify(*look)
        check(code == 1 and len(told(text, "FAIL", "policies.lost")) == 2, "two policies: each is missed")
        with open(log.path("policies", "08" + "00" * 31 + ".json"), "wb") as f:
            f.write(b"{}")
        code, text = log.verify(*look)
        check(len(told(text, "FAIL", "policies.file")) == 1 and len(told(text, "FAIL", "policies.lost")) == 1,
              "one of them there with other bytes: each by its name")
    finally:
        log.remove()


try:
    for part in (kept, changed, odd_files, folder, crashed):
        part()
finally:
    shutil.rmtree(TOP, ignore_errors=True)
finish()
