"""`bailiff policy diff` from outside: what a change to a policy comes to.

    test_diff.py BUILD_DIR SOURCE_DIR
"""
import copy
import itertools
import json
import os
import subprocess
import sys
import tempfile

BUILD, SOURCE = sys.argv[1], sys.argv[2]
PROGRAM = os.path.join(BUILD, "libexec/bailiff/bailiff-policy")
PRESETS = os.path.join(BUILD, "share/bailiff/policies")
failures = 0


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, check=False)


def case(name, ok, detail=""):
    global failures
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + repr(detail)))
    failures += not ok


BASE = {
    "version": 1, "name": "base",
    "languages": {"python": {"capabilities": {"subprocess": True, "ipc": False},
                             "modules": {"deny": ["ctypes"]}}},
    "limits": {"wall_ms": {"default": 1000, "max": 2000}, "output": {"max": "unlimited"}},
    "paths": {"read": ["/srv/data"]},
    "concurrency": {"runs": 2, "queue": 3, "per_principal": "auto"},
}


def put(path, value):
    policy = copy.deepcopy(BASE)
    at = policy
    for key in path[:-1]:
        at = at.setdefault(key, {})
    at[path[-1]] = value
    return policy


# A change, and all that must be told of it: (allowed, denied, changed).
CAP = ("languages", "python", "capabilities")
IPC = ["mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget",
       "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget"]
with open(os.path.join(SOURCE, "tests/escape/golden/x86_64.txt"), encoding="utf-8") as golden:
    # What "default" allows, by its arguments too, without two.
    ALL_BUT = [row.split()[1] for row in golden if " allow " in row or " arguments:" in row]
    ALL_BUT = [c for c in ALL_BUT if c not in ("brk", "mmap", "mprotect")]
CHANGES = [
    ("more time", put(("limits", "wall_ms"), {"default": 1000, "max": 3000}),
     (["python.limits.wall_ms.max 3000, was 2000"], [], [])),
    ("another default", put(("limits", "wall_ms"), {"default": 999, "max": 2000}),
     ([], [], ["python.limits.wall_ms.default 999, was 1000"])),
    ("no longer unlimited", put(("limits", "output"), {"max": 1 << 30}),
     ([], ["python.limits.output.max 1073741824, was unlimited"], [])),
    ("a language more", put(("languages", "bash"), {}), (["bash may run"], [], [])),
    ("a module less denied", put(("languages", "python", "modules"), {"deny": []}),
     (["python.modules.ctypes no longer denied"], [], [])),
    ("a module more denied", put(("languages", "python", "modules"), {"deny": ["ctypes", "xml.etree"]}),
     ([], ["python.modules.xml.etree denied"], [])),
    ("a list of the only modules", put(("languages", "python", "modules"), {"deny": ["ctypes"], "only": ["json"]}),
     ([], ["python.modules.only is new: no others"], [])),
    ("System V and POSIX queues", put(CAP, {"subprocess": True, "ipc": True}),
     (["python.capabilities.ipc true, was false"] +
      [f"python.calls.{c} {'by its arguments' if c == 'shmat' else 'allow'}, was EPERM" for c in IPC], [], [])),
    ("no programs", put(CAP, {"subprocess": False, "ipc": False}),
     ([], ["python.capabilities.subprocess false, was true", "python.calls.execve EPERM, was allow",
           "python.calls.execveat by its arguments, was allow", "python.calls.fork EPERM, was allow",
           "python.calls.vfork EPERM, was allow", "python.calls.clone other arguments than before"], [])),
    ("fewer calls", put(CAP, {"subprocess": True, "ipc": False, "syscalls": {"only": ALL_BUT}}),
     ([], ["python.calls.brk EPERM, was allow", "python.calls.mmap EPERM, was by its arguments",
           "python.calls.mprotect EPERM, was by its arguments"], [])),
    ("another root", put(("paths", "read"), ["/srv/data", "/srv/data2"]), (["paths.read /srv/data2"], [], [])),
    ("a wider root", put(("paths", "read"), ["/srv"]),
     (["paths.read /srv"], [], ["paths.read /srv/data is gone, within another root"])),
    ("a narrower root", put(("paths", "read"), ["/srv/data/x"]),
     ([], ["paths.read /srv/data"], ["paths.read /srv/data/x is new, within another root"])),
    ("a root beside it", put(("paths", "read"), ["/srv/dat"]), (["paths.read /srv/dat"], ["paths.read /srv/data"], [])),
    ("a root within it", put(("paths", "read"), ["/srv/data", "/srv/data/x"]),
     ([], [], ["paths.read /srv/data/x is new, within another root"])),
    ("no roots", put(("paths", "read"), []), ([], ["paths.read /srv/data"], [])),
    ("a code rule", put(("languages", "python", "rules"), [{"id": "a", "pattern": "x"}]),
     ([], ["python.rules.a is new"], [])),
    ("a rule that only says so", put(("languages", "python", "rules"), [{"id": "a", "pattern": "x", "action": "flag"}]),
     ([], [], ["python.rules.a is new"])),
    ("degraded", put(("degraded",), "accept"), (["degraded accept, was refuse"], [], [])),
    ("the rest", {**BASE, "name": "other", "concurrency": {"runs": "auto", "queue": 0, "per_principal": "unlimited"},
                  "landlock": {"min_abi": 3}, "service": {"linger_s": 0}},
     ([], [], ["concurrency.runs auto, was 2", "concurrency.queue 0, was 3",
               "concurrency.per_principal unlimited, was auto", "landlock.min_abi 3, was 2",
               "service.linger_s 0, was 60", "name other, was base"])),
    ("what is kept", {**BASE, "audit": {"results": {"keep_days": 30, "max_bytes": 1 << 30}, "tick_s": "none"}},
     ([], [], ["audit.results.keep_days 30, was unlimited", "audit.results.max_bytes 1073741824, was unlimited",
               "audit.tick_s none, was 600"])),
    ("what silence means anyway", put(("service",), {"linger_s": 60}), ([], [], [])),
    ("a limit that has no effect here", put(("languages", "python", "limits"), {"wall_ms": {"max": 2000}}),
     ([], [], [])),
]


def main(work):
    def write(name, policy):
        path = os.path.join(work, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(policy, f)
        os.chmod(path, 0o644)
        return path

    def diff(a, b):
        p = run("diff", "--json", a, b)
        answer = json.loads(p.stdout)
        case_code = 0 if answer["same"] else 1
        assert p.returncode == case_code and p.stderr == "", p
        return answer["same"], tuple([f"{i['what']} {i['text']}" for i in answer[k]]
                                     for k in ("allowed", "denied", "changed"))

    base = write("base.json", BASE)
    for name, policy, told in CHANGES:
        same, got = diff(base, write("changed.json", policy))
        case(f"{name}: all of it is told, and nothing else", [sorted(g) for g in got] == [sorted(t) for t in told] and
             same == (told == ([], [], [])), got)

    def whats(items):
        return sorted(i.split(" ")[0] for i in items)
    presets = [os.path.join(PRESETS, n) for n in sorted(os.listdir(PRESETS))]
    for a, b in itertools.combinations(presets + [base], 2):
        _, there = diff(a, b)
        _, back = diff(b, a)
        case(f"{os.path.basename(a)} and {os.path.basename(b)}: the way back is the other way round",
             whats(there[0]) == whats(back[1]) and whats(there[1]) == whats(back[0]) and
             whats(there[2]) == whats(back[2]))
    for path in presets:
        p = run("diff", path, path)
        case(f"{os.path.basename(path)} is itself", p.returncode == 0 and p.stdout.split() == ["same", "yes"], p)

    c = {"limits": {"wall_ms": {"default": 500, "max": 3000}}}
    _, got = diff(write("c.json", put(("languages", "c"), c)), write("other.json", put(("languages", "c"), dict(
        c, compile_limits={"wall_ms": 60000, "memory": 1 << 26}))))
    case("a compiler's limits are compared, said or not", got == (
        ["c.compile_limits.wall_ms 60000, was 3000"], ["c.compile_limits.memory 67108864, was 2147483648"], []), got)

    rules = [{"id": "a", "pattern": "x"}, {"id": "b", "module": "os", "action": "flag"}, {"id": "c", "module": "re"}]
    other = [{"id": "a", "pattern": "x", "action": "flag"}, {"id": "b", "module": "sys", "action": "deny"},
             {"id": "d", "pattern": "y"}]
    _, got = diff(write("rules.json", put(("languages", "python", "rules"), rules)),
                  write("other.json", put(("languages", "python", "rules"), other)))
    case("code rules are compared by their ids", got == (
        ["python.rules.a flag, was deny", "python.rules.c is gone"], ["python.rules.b deny, was flag",
                                                                      "python.rules.d is new"],
        ["python.rules.b looks for something else"]), got)

    p = run("diff", base, write("changed.json", put(("limits", "wall_ms"), {"max": 3000})))
    case("for a person it is lines beneath headings", p.returncode == 1 and p.stderr == "" and
         p.stdout.splitlines() == ["same            no", "allowed", "  python.limits.wall_ms.max 3000, was 2000",
                                   "changed", "  python.limits.wall_ms.default 3000, was 1000"], p)

    # What is told of a limit is what is decided.
    request = {"language": "python", "code": 1, "limits": {"wall_ms": 3000}}
    cases = write("cases.json", {"version": 1, "cases": [
        {"name": "n", "request": request, "expect": {"decision": "allow"}}]})
    case("and it is so", run("test", base, cases).returncode == 1 and
         run("test", os.path.join(work, "changed.json"), cases).returncode == 0)

    bad = write("bad.json", {"version": 1})
    for words, says in (((base, bad), "bad.json"), ((bad, base), "bad.json"), ((base, work), "not a regular file"),
                        ((base,), "A B"), ((base, base, base), "too many"), (("--jsn", base, base), "--json")):
        p = run("diff", *words)
        case("no answer: " + says, p.returncode == 2 and p.stdout == "" and says in p.stderr and
             p.stderr.count("\n") == 1, p)


with tempfile.TemporaryDirectory(prefix="bailiff-test-") as folder:
    main(folder)
sys.exit(1 if failures else 0)
