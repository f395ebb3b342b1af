"""`bailiff policy check` and `bailiff languages` from outside: what they print,
their exit codes, and which files they refuse to read."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = sys.argv[1], sys.argv[2]
PROGRAM = os.path.join(BUILD, "libexec/bailiff/bailiff-policy")
LANGUAGES = ["bash", "c", "cpp", "go", "java", "javascript", "python", "r", "ruby"]
PRESETS = os.path.join(BUILD, "share/bailiff/policies")
failures = 0


def run(*words, **kw):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True,
                          timeout=120, **kw)


def case(name, ok, detail=""):
    global failures
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + repr(detail)))
    failures += not ok


def main(work):
    def write(name, text, mode=0o644):
        path = os.path.join(work, name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    for preset in ("default", "user", "strict"):
        p = run("check", os.path.join(PRESETS, preset + ".json"))
        case(f"preset {preset} is sound", p.returncode == 0 and p.stderr == "" and
             f"name       {preset}\n" in p.stdout, p)
    p = run("check")
    case("without a file the policy of this account is checked",
         p.returncode == 0 or os.path.exists("/etc/bailiff/policy.json"), p)

    p = run("check", "--json", os.path.join(PRESETS, "default.json"))
    answer = json.loads(p.stdout)
    good_sha256 = answer["sha256"]
    case("--json says it as one object", answer["ok"] and answer["name"] == "default"
         and len(answer["sha256"]) == 64
         and [l["name"] for l in answer["languages"]] == LANGUAGES, answer)

    bad = write("bad.json", '{\n  "version": 1,\n  "name": "t",\n'
                '  "languages": {"pyhton": {}},\n  "limts": {},\n'
                '  "paths": {"read": ["/srv/../etc"]}\n}\n')
    p = run("check", bad)
    lines = p.stdout.splitlines()
    case("all faults come with file, line, column, pointer", p.returncode == 1 and
         len(lines) == 3 and
         f'{bad}:4:17: /languages/pyhton: unknown language "pyhton"; did you mean "python"?' in lines
         and f'{bad}:5:3: /limts: unknown key "limts"; did you mean "limits"?' in lines
         and any(l.startswith(f"{bad}:6:22: /paths/read/0: ") for l in lines), p)
    answer = json.loads(run("check", "--json", bad).stdout)
    case("--json lists the faults", not answer["ok"] and
         [f["line"] for f in answer["faults"]] == [5, 6, 4], answer)

    evil = write("evil.json", '{"version":1,"name":"t","languages":{},"\\u001b[2Ja\\u202e":1}')
    p = run("check", evil)
    case("what a file says cannot steer a terminal", p.returncode == 1 and
         "\x1b" not in p.stdout and "\u202e" not in p.stdout and "\\x1b" in p.stdout, p)

    good = open(os.path.join(PRESETS, "default.json")).read()
    link = os.path.join(work, "link.json")
    os.symlink(os.path.join(PRESETS, "default.json"), link)
    fifo = os.path.join(work, "fifo.json")
    os.mkfifo(fifo, 0o600)
    for name, path, says in (
            ("a symbolic link", link, "symbolic link"),
            ("a FIFO", fifo, "not a regular file"),
            ("a directory", work, "not a regular file"),
            ("a device", "/dev/null", "not a regular file"),
            ("a missing file", os.path.join(work, "none.json"), "No such file"),
            ("a group-writable file", write("g.json", good, 0o664), "writable by group"),
            ("a world-writable file", write("w.json", good, 0o646), "writable by group"),
            ("a file of 2 MiB", write("big.json", " " * (2 << 20)), "more than 1048576 bytes")):
        p = run("check", path)
        case(f"{name} is refused in one line", p.returncode == 1 and p.stdout == "" and
             says in p.stderr and p.stderr.count("\n") == 1, p)
    if os.geteuid() == 0:
        foreign = write("foreign.json", good)
        os.chown(foreign, 1900065535, 1900065535)
        p = run("check", foreign)
        case("a file of somebody else is refused", p.returncode == 1 and
             "owned by uid" in p.stderr, p)
    else:
        print("skip a file of somebody else: needs root")

    for name, text in (("empty", ""), ("binary", "\x00\x01\x02"), ("not UTF-8", '{"a":"\udcff"}'),
                       ("100000 brackets", "[" * 100000),
                       ("a million members", '{"a":' * 150000),
                       ("a long number", "1" * 10000)):
        p = run("check", write("odd.json", text))
        case(f"{name} is refused at its place", p.returncode == 1 and
             p.stdout.count("\n") == 1 and ":1:" in p.stdout, p)

    p = subprocess.run([PROGRAM, "check", "--effective", os.path.join(PRESETS, "default.json")], capture_output=True)
    case("--effective prints the bytes that the digest is of", p.returncode == 0 and p.stderr == b"" and
         hashlib.sha256(p.stdout).hexdigest() == good_sha256 and
         json.loads(p.stdout)["languages"]["python"]["limits"]["wall_ms"] == {"default": 30000, "max": 300000}, p)
    p = run("check", "--effective", bad)
    case("of a faulty policy the faults", p.returncode == 1 and p.stdout.count("\n") == 3, p)

    vain = write("vain.json", json.dumps({
        "version": 1, "name": "vain", "languages": {"python": {"modules": {"deny": ["xml", "xml.etree", "xyzzy"]}}},
        "limits": {"memory": {"max": 1 << 40}, "inputs": {"max": 0}}, "paths": {"read": ["/nowhere/at/all"]}}))
    p = run("check", vain)
    warnings = [l[len("warning    "):] for l in p.stdout.splitlines() if l.startswith("warning")]
    case("what a sound policy says in vain is a warning", p.returncode == 0 and all(
        any(says in w for w in warnings) for says in (
            "limits.memory.max: 1099511627776 is above the memory of this host", "paths.read never matches",
            "/nowhere/at/all: does not exist", "xml.etree: is denied with xml already",
            "xyzzy: this host has no such module")), p)
    case("in JSON too", json.loads(run("check", "--json", vain).stdout)["warnings"] == warnings)

    known = json.loads(run("languages", "--json").stdout)["languages"]
    case("languages lists what there is", [l["name"] for l in known] == LANGUAGES and
         known[0]["available"] and known[0]["version"].startswith("GNU bash"), known)
    p = run("languages")
    case("and as a table", p.returncode == 0 and "py, python3" in p.stdout, p)

    # A copy of the installation whose language files we may break.
    copy = os.path.join(work, "tree")
    os.makedirs(os.path.join(copy, "libexec/bailiff"), mode=0o755)
    shutil.copy2(PROGRAM, os.path.join(copy, "libexec/bailiff/bailiff-policy"))
    shutil.copytree(os.path.join(BUILD, "share"), os.path.join(copy, "share"))
    def other(*words):
        return subprocess.run([os.path.join(copy, "libexec/bailiff/bailiff-policy"), *words],
                              capture_output=True, text=True, timeout=120)
    data = os.path.join(copy, "share/bailiff/languages/python.json")
    text = open(data).read()
    with open(data, "w") as f:
        f.write(text.replace("/usr/bin/python3", "/usr/bin/python-that-is-not-here"))
    p = other("languages")
    case("a missing toolchain is named with its package",
         "missing: apt-get install python3" in p.stdout and p.returncode == 0, p)
    p = other("check", os.path.join(copy, "share/bailiff/policies/strict.json"))
    case("and a policy that allows it warns", p.returncode == 0 and
         "warning    python: its program is not on this host" in p.stdout, p)
    with open(data, "w") as f:
        f.write(text.replace('"needs": []', '"needs": ["threads"]'))
    p = other("check", os.path.join(copy, "share/bailiff/policies/strict.json"))
    case("what a language needs must be allowed", p.returncode == 1 and
         'cannot start without the capability "threads"' in p.stdout, p)
    with open(data, "w") as f:
        f.write(text + "x")
    p = other("check", os.path.join(copy, "share/bailiff/policies/strict.json"))
    case("a broken language file is named", p.returncode == 1 and
         p.stdout.startswith(data + ":"), p)
    os.chmod(data, 0o666)
    p = other("languages")
    case("a language file that others may write is refused", p.returncode == 1 and
         "python.json" in p.stderr and "writable" in p.stderr, p)

    for words, code, says in (((), 2, "which command"), (("chek",), 2, "did you mean check"),
                              (("check", "--jsn"), 2, "--json"), (("check", "--json", "--effective"), 2, "leave --json out"), (("check", "a", "b"), 2, "one FILE too many"),
                              (("languages", "x"), 2, "operand"),
                              (("explain",), 2, "no code"), (("test",), 2, "FILE CASES"),
                              (("init",), 2, "which preset"), (("schema", "x"), 2, "no operand"),
                              (("diff",), 2, "A B"), (("learn",), 2, "from which runs?")):
        p = run(*words)
        case("usage: " + (" ".join(words) or "nothing"), p.returncode == code and
             says in p.stderr and p.stdout == "" and p.stderr.count("\n") == 1, p)
    for words in (("--help",), ("check", "--help"), ("languages", "--help"), ("--version",)):
        p = run(*words)
        case("help: " + " ".join(words), p.returncode == 0 and p.stdout != "" and p.stderr == "", p)
    with open("/dev/full", "w") as full:
        p = subprocess.run([PROGRAM, "check", os.path.join(PRESETS, "user.json")], stdout=full,
                           stderr=subprocess.PIPE, text=True, timeout=120)
    case("a full disk is said", p.returncode == 1 and "standard output" in p.stderr, p)


with tempfile.TemporaryDirectory() as directory:
    main(directory)
sys.exit(1 if failures else 0)
