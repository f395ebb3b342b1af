#!/usr/bin/python3
"""What `bailiff policy explain` says is what a run gets.

    test_explain.py BUILD_DIR SOURCE_DIR

Each case asks explain and then the service by the same words, and compares the
answer with the record, the reply and what the kernel says of the program.
"""
import ctypes
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

from lib import (BAILIFF, Place, Skip, call, case, check, cmdline,  # noqa: E402
                 equal, main, need_programs, need_root, one_line, pids,
                 read)

CAPABLE = {"languages": {"python": {"capabilities": {
    "subprocess": False, "exec_memory": False, "ipc": True, "loopback": False}},
    "bash": {"limits": {"wall_ms": {"default": 4000, "max": 9000}}}}}
WAIT = "print('ready', flush=True)\nimport time\ntime.sleep(600)\n"
LOOK = """
import json, os, sys
mounts = [l.split() for l in open('/proc/self/mountinfo')]
print(json.dumps({'env': dict(os.environ), 'argv': sys.orig_argv, 'mounts': [
    [m[4], m[m.index('-') + 1], m[5].split(',')[0], m[-1].split(',')[0]] for m in mounts]}))
"""


def explain(place, *words, policy=None, stdin=b""):
    r = call([BAILIFF, "policy", "explain", "--json", "--policy",
              policy or place.policy, *words], stdin=stdin)
    check(r.code in (0, 126), "explain: %r" % r)
    answer = json.loads(r.out)
    equal(answer["decision"], "allow" if r.code == 0 else "deny", "exit code")
    return answer


def intent(place):
    return [r for r in place.records() if r["type"] == "intent"][-1]


@case("limits, rules and policy are those of the record")
def _():
    place = Place(**CAPABLE)
    for words in (("--lang", "python", "-c", "print(1)"),
                  ("--lang", "py", "--timeout", "7.25", "--memory", "64", "-c", "print(1)"),
                  ("--lang", "bash", "-c", "exit 0")):
        said = explain(place, *words)
        r = place.json(*words).json
        equal(r["status"], "ok", "the run")
        was = intent(place)
        equal({k: v["value"] for k, v in said["limits"].items()},
              was["limits"], "limits")
        equal(said["rules"], was["rules"], "rules")
        equal(said["policy"]["sha256"], was["policy"]["sha256"], "policy")
    kept = os.path.join(place.state, "policies", said["policy"]["sha256"] + ".json")
    equal(hashlib.sha256(read(kept)).hexdigest(), said["policy"]["sha256"],
          "the text that is kept")


@case("a denial has the same reasons, all of them")
def _():
    place = Place(paths={"read": []})
    root = place.path("root")
    os.mkdir(root, 0o755)
    place.write("root/in", "x")
    rooted = place.write_policy("rooted.json", paths={"read": [root]})
    code = ("--lang", "python", "-c", "print(1)")
    for policy, words in (
            (place.policy, ("--lang", "cobol", "-c", "x")),
            (place.policy, ("--timeout", "301") + code),
            (place.policy, ("--timeout", "301", "--memory", "4096", "--file", "/etc/passwd:p") + code),
            (place.policy, ("--memory", "1") + code),
            (place.policy, ("--lang", "python", "-c", "")),
            (place.policy, ("--put", BAILIFF + ":-x") + code),
            (rooted, ("--file", "/etc/passwd:p") + code),
            (rooted, ("--file", root + "/../x") + code),
            (rooted, ("--file", root + "//in") + code),
            (rooted, ("--file", root + "2/in") + code),
            (rooted, ("--file", root + "/in:main.py", "--file", root + "/in:main.py") + code),
            (rooted, ("--dir", "/:etc", "--file", root + "/in") + code)):
        said = explain(place, *words, policy=policy)
        r = place.json(*words, policy=policy).json
        equal(r["status"], "denied", "the request %r" % (words,))
        check(said["decision"] == "deny" and said["reasons"], said)
        equal(said["reasons"], sorted(r["decision"]["reasons"]), "reasons of %r" % (words,))


@case("environment, command and mounts are what the program finds")
def _():
    place = Place(languages={"python": {"capabilities": {"exec_memory": False}}})
    root = place.path("root")
    os.makedirs(os.path.join(root, "some dir"), 0o755)
    place.write("root/in", "x")
    policy = place.write_policy("rooted.json", paths={"read": [root]})
    words = ("--lang", "python", "--file", root + "/in", "--dir", root + "/some dir",
             "--put", policy + ":own", "-c", LOOK)
    said = explain(place, *words, policy=policy)
    r = place.json(*words, policy=policy).json
    equal((r["status"], r["stderr"]), ("ok", ""), "the run")
    found = json.loads(r["stdout"])
    equal(said["environment"], found["env"], "environment")
    equal(said["language"]["command"], found["argv"], "command")
    told = {m["point"]: m for m in said["mounts"]}
    equal(sorted(told), sorted(m[0].replace("\\040", " ") for m in found["mounts"]), "mounts")
    for point, kind, flags, superblock in found["mounts"]:
        mount = told[point.replace("\\040", " ")]
        check(mount["type"] in (kind, "tree"), (mount, kind))
        equal(mount["read_only"], "ro" in (flags, superblock), point)
    equal([(i["name"], i["kind"]) for i in said["inputs"]],
          [("in", "copy of"), ("some dir", "shows"), ("own", "sent along")], "inputs")


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_SECCOMP_GET_FILTER = 17, 0x4206, 0x4207, 0x420C
WALL = 0x40000000


def filters_of(pid):
    """The seccomp filters of a process, as the kernel has them (ptrace(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(PTRACE_SEIZE, pid, 0, None) < 0:
        raise OSError(ctypes.get_errno(), "seize")
    libc.ptrace(PTRACE_INTERRUPT, pid, 0, None)
    os.waitpid(pid, WALL)
    found = []
    try:
        while True:
            n = libc.ptrace(PTRACE_SECCOMP_GET_FILTER, pid, len(found), None)
            if n < 0:
                # EINVAL: the kernel keeps no copies (CONFIG_CHECKPOINT_RESTORE).
                return found, ctypes.get_errno()
            code = ctypes.create_string_buffer(n * struct.calcsize("HBBI"))
            libc.ptrace(PTRACE_SECCOMP_GET_FILTER, pid, len(found), ctypes.addressof(code))
            found.append(hashlib.sha256(code.raw).hexdigest())
    finally:
        libc.ptrace(PTRACE_DETACH, pid, 0, None)


@case("the filter is, byte for byte, the one that the kernel has of the program")
def _():
    place = Place(**CAPABLE)
    strict = place.write_policy("other.json", languages={"python": {"capabilities": {"loopback": True}}})
    digests = set()
    for policy in (place.policy, strict):
        said = explain(place, "--lang", "python", "-c", WAIT, policy=policy)
        marker = "explain-%d-%d" % (os.getpid(), len(digests))
        front = subprocess.Popen(
            place.words("run", "--lang", "python", "-c", WAIT, "--", marker, policy=policy),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            equal(front.stdout.readline(), b"ready\n", "the program's line")
            pid = [p for p in pids() if cmdline(p)[:1] == ["python3"] and marker in cmdline(p)][0]
            found, why = filters_of(pid)
        finally:
            front.send_signal(signal.SIGTERM)
            front.communicate()
        if not found:
            raise Skip("this kernel does not show filters: errno %d" % why)
        check(said["filter"]["sha256"] in found, "%s is not among %s" % (said["filter"]["sha256"], found))
        digests.add(said["filter"]["sha256"])
    equal(len(digests), 2, "different capabilities have different filters")


CALLS = """
import ctypes, errno, json, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
bad = [ctypes.c_long(-1)] * 6
answers = {}
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *bad)
    answers[name] = 'ok' if r >= 0 else errno.errorcode[ctypes.get_errno()]
print(json.dumps(answers))
"""
NUMBERS = {"msgget": 68, "shmget": 29, "mount": 165, "bpf": 321, "ptrace": 101, "io_uring_setup": 425, "getpid": 39,
           "openat2": 437, "clone3": 435, "connect": 42, "execve": 59, "memfd_create": 319, "close": 3, "kexec_load": 246,
           "inotify_init": 253}


@case("calls by name get the answers that are told")
def _():
    if os.uname().machine != "x86_64":
        raise Skip("numbers of x86_64")
    place = Place(**CAPABLE)
    words = ("--lang", "python", "-c", CALLS, "--", json.dumps(NUMBERS))
    said = explain(place, *words)["filter"]
    r = place.json(*words).json
    equal((r["status"], r["stderr"]), ("ok", ""), "the run")
    for name, got in json.loads(r["stdout"]).items():
        told = [k for k in ("allow", "EPERM", "ENOSYS") if name in said[k]]
        check(len(told) == 1, "%s: %r" % (name, told))
        # Called with nonsense, what is allowed is answered by the kernel itself.
        equal(got if told[0] != "allow" else got not in ("EPERM", "ENOSYS"),
              told[0] if told[0] != "allow" else True, name)


IN_C = r"""
#include <stdio.h>
extern char **environ;
int main(int argc, char **argv) {
	for (char **e = environ; *e; e++) printf("E%s\n", *e);
	for (int i = 0; i < argc; i++) printf("A%s\n", argv[i]);
}
"""


@case("a compiled language has a compiler beside its program")
def _():
    place = Place(languages={"c": {"limits": {"wall_ms": {"default": 4000, "max": 60000}},
                                   "capabilities": {"threads": False, "subprocess": False}}})
    words = ("--lang", "c", "--timeout", "5", "-c", IN_C)
    said = explain(place, *words)
    if not said["language"]["available"]:
        raise Skip("no C compiler here")
    r = place.json(*words).json
    equal((r["status"], r["stderr"]), ("ok", ""), "the run")
    lines = r["stdout"].splitlines()
    equal(["A" + w for w in said["language"]["command"]], [l for l in lines if l[0] == "A"], "command")
    equal(sorted("E%s=%s" % i for i in said["environment"].items()), sorted(l for l in lines if l[0] == "E"), "environment")
    equal((said["limits"]["wall_ms"]["value"], said["compiler"]["limits"]["wall_ms"]), (5000, 60000), "time of each")
    equal(said["compiler"]["command"][0], "gcc", "the compiler")
    check(said["compiler"]["filter"]["sha256"] != said["filter"]["sha256"], "one filter for both")
    check(said["compiler"]["capabilities"]["subprocess"] and not said["capabilities"]["subprocess"], said)
    check("compiler" not in explain(place, "--lang", "python", "-c", "x"), "python has a compiler")


@case("denied modules are told as check tells them")
def _():
    place = Place(languages={"python": {"modules": {"deny": ["ctypes", "socket", "no_such_thing"]},
                                        "capabilities": {"loopback": False}}})
    said = explain(place, "--lang", "python", "-c", "print(1)")["modules"]
    equal(said, {"ctypes": "absent", "no_such_thing": "nothing", "socket": said["socket"]}, "modules")
    r = call([BAILIFF, "policy", "check", "--json", place.policy])
    equal({m["name"]: m["enforced"] + (" " + m["capability"] if "capability" in m else "")
           for m in json.loads(r.out)["modules"]}, said, "check and explain")


RULES = [{"id": "shell", "pattern": "os[.]system"}, {"id": "sockets", "module": "socket"},
         {"id": "later", "pattern": "LATER", "in": "comments", "action": "flag"}, {"id": "pickles", "module": "pickle"}]


@case("code rules meet what the service's screen meets")
def _():
    place = Place(languages={"python": {"rules": RULES}})
    for code in ("import os\nos.system('x')\n", "# import socket\nprint('os.system')\n", "pass  # LATER\n",
                 "import socket, os\n# LATER\n\nos.system('x')\n", "# coding: utf-7\nprint(1)\n",
                 "print(1)\n", 'x = """\nimport socket\n"""\n', "from  socket import *\n"):
        said = explain(place, "--lang", "python", "-c", code)
        r = place.json("--lang", "python", "-c", code).json
        equal(said["reasons"], sorted(r["decision"]["reasons"]), "reasons of %r" % code)
        equal(said["rules"], sorted(r["decision"]["rules"]), "rules of %r" % code)
    said = explain(place, "--lang", "python", "-c", "import socket, os\n# LATER\n\nos.system('x')\n")
    equal((said["reasons"], said["rules"], said["lines"]),
          (["code.rule.shell", "code.rule.sockets"], ["code.rule.later", "language.python"],
           {"sockets": 1, "later": 2, "shell": 4}), "all of it, with lines")
    r = call([BAILIFF, "policy", "check", "--json", place.policy])
    equal([(m["name"], m["enforced"]) for m in json.loads(r.out)["modules"]],
          [("socket", "screened only"), ("pickle", "screened only")], "what check says of modules")
    request = place.write("r.json", json.dumps({"language": "python", "code": 100}))
    equal(explain(place, "--request", request)["decision"], "allow", "of a size no rule can say anything")
    cases = place.write("cases.json", json.dumps({"version": 1, "cases": [
        {"name": "a", "request": {"language": "python", "code": "import socket"},
         "expect": {"decision": "deny", "reasons": ["code.rule.sockets"]}}]}))
    r = call([BAILIFF, "policy", "test", place.policy, cases])
    equal((r.code, r.out.splitlines()[-1]), (0, b"ok 1 - a"), "a case")


@case("a request written as JSON is the request of those words")
def _():
    place = Place(paths={"read": ["/srv"]})
    path = place.write("r.json", json.dumps({
        "language": "python", "code": "print(1)", "stdin": "abc", "args": ["a", "bc"],
        "limits": {"wall_ms": 7250}, "inputs": [{"file": "/srv/x"}, {"inline": "12", "name": "n"}]}))
    place.write("n", "12")
    by_file = explain(place, "--request", path)
    by_words = explain(place, "--lang", "python", "--timeout", "7.25", "--file", "/srv/x", "--put",
                       place.path("n"), "-c", "print(1)", "--", "a", "bc", stdin=b"abc")
    equal(by_file, by_words, "both ways")
    for text, says in (('{"language": "python"}', 'needs the key "code"'), ("{", ""), ('{"language":1,"code":2}', ""),
                       ('{"language":"python","code":1,"limits":{"wall":1}}', "wall_ms")):
        r = call([BAILIFF, "policy", "explain", "--policy", place.policy, "--request", place.write("bad.json", text)])
        equal((r.code, r.out), (1, b""), text)
        one_line(r, "bad.json:", says)


@case("for a person it is lines, for whoever is denied a code")
def _():
    place = Place()
    r = call([BAILIFF, "policy", "explain", "--policy", place.policy, "--lang", "python", "-c", "x"])
    text = r.out.decode()
    check(r.code == 0 and r.err == b"" and text.startswith("decision        allow\n"), r)
    check(max(len(l) for l in text.splitlines() if "," in l) < 80, "long lines")
    for line in ("  wall_ms         30000       of at most 300000\n", "  /usr            overlay, read-only\n",
                 "  PATH            /usr/local/bin:/usr/bin:/bin\n"):
        check(line in text, "no line %r" % line)
    r = call([BAILIFF, "policy", "explain", "--policy", place.policy, "--lang", "python", "-c", "x",
              "--file", "/srv/\x1b[2J\u202e:n"])
    check(r.code == 126 and b"\x1b" not in r.out and b"path.component" in r.out, r)


@case("a code is needed, a language, and sound words")
def _():
    place = Place()
    for words, says in (((), "no code"), (("-c", "x"), "which language"), (("--request", "r", "-c", "x"), "--request says"),
                        (("--lang", "python", "--timeout", "x", "-c", "x"), "--timeout"), (("--jsn",), "--json"),
                        (("--request", "a", "--", "b"), "--request says")):
        r = call([BAILIFF, "policy", "explain", "--policy", place.policy, *words])
        equal((r.code, r.out), (2, b""), words)
        one_line(r, says)
    fifo = place.path("fifo")
    os.mkfifo(fifo)
    for words, says in ((("--request", fifo), "not a regular file"), (("--request", place.path("none")), "No such file"),
                        (("--request", place.dir), "not a regular file"), ((place.path("none.py"),), "No such file")):
        r = call([BAILIFF, "policy", "explain", "--policy", place.policy, *words])
        equal((r.code, r.out), (1, b""), words)
        one_line(r, says)


need_root()
need_programs("bailiff-policy", "bailiff-supervisor", "bailiff-launch")
main()
