"""`bailiff policy test` from outside: every preset against its case file, and
that a policy which decides otherwise is caught.

    test_cases.py BUILD_DIR SOURCE_DIR
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

BUILD, SOURCE = sys.argv[1], sys.argv[2]
PROGRAM = os.path.join(BUILD, "libexec/bailiff/bailiff-policy")
PRESETS = os.path.join(BUILD, "share/bailiff/policies")
CASES = os.path.join(BUILD, "share/bailiff/cases")
failures = 0


def run(*words):
    return subprocess.run([PROGRAM, "test", *words], capture_output=True, text=True, timeout=120, check=False)


def case(name, ok, detail=""):
    global failures
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + repr(detail)))
    failures += not ok


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


# What a policy may be changed to, and a case of the preset that must then miss.
CHANGES = [
    ("default", lambda p: p["limits"]["wall_ms"].update(max=300001), "a millisecond more cannot"),
    ("default", lambda p: p["limits"]["wall_ms"].update(default=29999), "python runs, with the defaults"),
    ("default", lambda p: p["paths"].update(read=["/etc"]), "no host file is read"),
    ("default", lambda p: p["languages"]["bash"]["capabilities"].update(subprocess=False),
     "bash runs and starts programs"),
    ("default", lambda p: p["capabilities"].update(ipc=True), "nothing reaches the kernel's own machinery"),
    ("default", lambda p: p["languages"].pop("python"), "python runs, with the defaults"),
    ("strict", lambda p: p["capabilities"].update(loopback=True), "no socket at all"),
    ("strict", lambda p: p["capabilities"].update(exec_memory=True), "no memory becomes executable"),
    ("strict", lambda p: p["languages"]["python"]["modules"].update(deny=["ctypes"]), "python runs, with little"),
    ("strict", lambda p: p["limits"]["inputs"].update(default=1, max=1), "nothing comes along"),
]

GOOD = {"version": 1, "cases": [{"name": "a", "request": {"language": "python", "code": 1},
                                 "expect": {"decision": "allow"}}]}
# Each is no case file, and says what the line must hold.
BAD = [
    ("{}", "version"), ("[]", "expected an object"), ('{"version":2,"cases":[]}', "version 1"),
    ('{"version":1,"cases":[]}', "nothing would be tested"), ('{"version":1,"cases":{}}', "expected a list"),
    (json.dumps(GOOD).replace('"name"', '"nmae"'), 'did you mean "name"'),
    (json.dumps(GOOD).replace('"allow"', '"allowed"'), 'did you mean "allow"'),
    (json.dumps(GOOD).replace('"code": 1', '"code": 1, "limits": {"wal_ms": 1}'), 'did you mean "wall_ms"'),
    (json.dumps(GOOD).replace('"allow"', '"allow", "calls": {"mount_it": "EPERM"}'), "no system call"),
    (json.dumps(GOOD).replace('"allow"', '"allow", "calls": {"mount": "EACCES"}'), "unknown word"),
    (json.dumps(GOOD).replace('"allow"', '"deny", "calls": {"mount": "EPERM"}'), "makes no calls"),
    (json.dumps(GOOD).replace('"allow"', '"allow", "rules": ["a", "a"]'), "twice"),
    (json.dumps(GOOD).replace('"decision": "allow"', '"reasons": []'), "decision"),
    (json.dumps(GOOD) + "x", "1:"), ("\ufeff" + json.dumps(GOOD), "1:1"), ("", "1:1"),
]


def main(work):
    def write(name, text):
        path = os.path.join(work, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
        os.chmod(path, 0o644)
        return path

    names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(PRESETS, "*.json")))
    case("every preset has a case file, and no case file is left over",
         names == sorted(os.listdir(CASES)), (names, os.listdir(CASES)))
    for name in names:
        p = run(os.path.join(PRESETS, name), os.path.join(CASES, name))
        lines = p.stdout.splitlines()
        n = len(read_json(os.path.join(CASES, name))["cases"])
        case(f"{name} decides as its case file says", p.returncode == 0 and p.stderr == "" and n >= 10 and
             lines[:2] == ["TAP version 14", f"1..{n}"] and
             [l[:len("ok 12 -")].split()[1] for l in lines[2:]] == [str(i) for i in range(1, n + 1)] and
             all(l.startswith("ok ") for l in lines[2:]), p)

    for preset, change, caught in CHANGES:
        policy = read_json(os.path.join(PRESETS, preset + ".json"))
        change(policy)
        path = write("changed.json", json.dumps(policy))
        cases = os.path.join(CASES, preset + ".json")
        p = run(path, cases)
        missed = re.findall(r"^not ok \d+ - (.*)$", p.stdout, re.M)
        case(f"{preset}, changed: '{caught}' is missed", p.returncode == 1 and caught in missed, p)
        tree = xml.etree.ElementTree.fromstring(run("--junit", path, cases).stdout)
        failed = [c.get("name") for c in tree.findall("testcase") if c.find("failure") is not None]
        case("and in JUnit's XML", failed == missed and tree.get("failures") == str(len(missed)) and
             tree.get("tests") == str(len(tree.findall("testcase"))) and
             all(f.get("message") for f in tree.iter("failure")), (failed, missed))

    odd = {"version": 1, "cases": [
        {"name": 'a # b & <c> "d" \u00e4 \\', "request": {"language": "\u001b[2J", "code": 1},
         "expect": {"decision": "allow", "reasons": ["<&\">"], "limits": {"pids": 3}}},
        {"name": "unlimited", "request": {"language": "python", "code": 1},
         "expect": {"decision": "allow", "limits": {"file_size": "unlimited"}, "rules": []}}]}
    path = write("odd & <odd>.json", json.dumps(odd))
    default = os.path.join(PRESETS, "default.json")
    p = run(default, path)
    case("what a case says cannot break the report", p.returncode == 1 and
         'not ok 1 - a \\# b & <c> "d" \u00e4 \\\\\n' in p.stdout and "\x1b" not in p.stdout and
         "no limits without a language" in p.stdout, p)
    case("a limit that differs is told with both numbers", "file_size 67108864, expected unlimited" in p.stdout, p)
    tree = xml.etree.ElementTree.fromstring(run("--junit", default, path).stdout)
    case("nor the XML", [c.get("name") for c in tree] == [c["name"] for c in odd["cases"]] and
         tree.get("name").endswith("odd & <odd>.json"), tree.attrib)

    for text, says in BAD:
        p = run(default, write("bad.json", text))
        case(f"no case file: {text[:40]!r}", p.returncode == 1 and p.stdout == "" and says in p.stderr and
             "bad.json" in p.stderr and p.stderr.count("\n") == 1, p)
    fifo = os.path.join(work, "fifo")
    os.mkfifo(fifo)
    for words, says in (((default, fifo), "not a regular file"), ((default, work), "not a regular file"),
                        ((default, os.path.join(work, "none")), "No such file"),
                        ((fifo, path), "not a regular file"), ((path, path), "unknown key")):
        p = run(*words)
        case(f"unreadable: {says}", p.returncode == 1 and p.stdout == "" and says in p.stderr and
             p.stderr.count("\n") == 1, p)
    for words, says in (((), "FILE CASES"), ((default,), "FILE CASES"), ((default, path, path), "too many"),
                        (("--tap", default, path), "unknown option")):
        p = run(*words)
        case("usage: test " + str(len(words)), p.returncode == 2 and says in p.stderr, p)


with tempfile.TemporaryDirectory(prefix="bailiff-test-") as folder:
    main(folder)
sys.exit(1 if failures else 0)
