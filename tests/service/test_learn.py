"""`bailiff policy learn`: the least that recorded runs needed, written, merged and run under again.

Run as: python3 test_learn.py BUILD_DIR SOURCE_DIR [--long] [part of a name].
"""
import json
import os
import shutil
import sys

from lib import (BAILIFF, BUILD, SOURCE, Place, call, case, check, equal, main, merge, need_programs, need_root, one_line,
                 read, wait_for)

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")
AGAIN = 200 if LONG else 10

# Threads that sleep, wait and compute while a timer interrupts them; programs, pipes, files, a signal of its own.
BUSY = """
import os, signal, subprocess, sys, tempfile, threading, time, queue
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
work, done = queue.Queue(), []
def worker():
    while (n := work.get()) is not None:
        time.sleep(0.001)
        done.append(sum(range(n)))
threads = [threading.Thread(target=worker) for _ in range(4)]
for t in threads: t.start()
timer = threading.Timer(0.01, lambda: work.put(99)); timer.start()
for n in range(40): work.put(n)
for _ in range(2):
    out = subprocess.run(["/bin/sh", "-c", "read a; echo got $a"], input=b"x\\n", capture_output=True, check=True)
    assert out.stdout == b"got x\\n", out
timer.join()
for _ in threads: work.put(None)
for t in threads: t.join()
with tempfile.TemporaryFile(dir="/tmp") as f:
    f.write(b"y" * 100000); f.seek(0); assert len(f.read()) == 100000
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
os.kill(os.getpid(), signal.SIGUSR1)
while not got or not ticks: time.sleep(0.001)
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(done))
"""


def learn(place, *words, policy=None):
    return call([BAILIFF, "policy", "learn", "--policy", policy or place.policy, "--state", place.state, *words])


def record(place, language, code, times, policy=None, **more):
    runs = []
    for _ in range(times):
        r = place.json("--lang", language, "-c", code, policy=policy, **more).json
        equal((r["status"], r["exit_code"]), ("ok", 0), "a recording: %r" % r["stderr"])
        runs.append(r["run_id"])
    return runs


def merged(place, fragment, name="smaller.json"):
    """The place's policy with the fragment merged into it, as RFC 7386 has it."""
    with open(place.policy) as f:
        policy = merge(json.load(f), fragment)
    return place.write(name, json.dumps(policy), 0o600)


def learned(place, runs):
    r = learn(place, *runs)
    equal(r.code, 0, "learn: %r" % r)
    return json.loads(r.out), r.err.decode()


def only(fragment, language):
    return fragment["languages"][language]["capabilities"]["syscalls"]["only"]


@case("a program of threads, timers, programs and signals runs %d times under what was learned of it" % AGAIN)
def _():
    p = Place(trace="required")
    runs = record(p, "python", BUSY, 3)
    fragment, _ = learned(p, runs)
    check("json" not in fragment["languages"]["python"]["modules"]["only"], "modules")
    capabilities = fragment["languages"]["python"]["capabilities"]
    equal([capabilities[c] for c in ("subprocess", "threads", "loopback", "ipc")], [True, True, False, False],
          "capabilities")
    smaller = merged(p, fragment)
    for n in range(AGAIN):
        r = p.json("--lang", "python", "-c", BUSY, policy=smaller).json
        equal((r["status"], r["exit_code"], r["stdout"]), ("ok", 0, "41\n"), "run %d: %r" % (n, r["stderr"]))
    r = learn(p, "--check", *runs, policy=smaller)
    equal(r.code, 0, "--check: %r" % r)
    one_line(r, "nothing of 3 runs would be refused")
    modules = fragment["languages"]["python"]["modules"]["only"]
    check({"subprocess", "threading", "tempfile", "encodings"} < set(modules) and "email" not in modules, modules)
    other = "import json, sys\nprint('made')"
    equal(p.json("--lang", "python", "-c", other).json["stdout"], "made\n", "a module, before")
    r = p.json("--lang", "python", "-c", other, policy=smaller).json
    check(r["exit_code"] == 1 and "No module named 'json'" in r["stderr"], "a module under the smaller one: %r" % r)
    # It is really smaller, in the kernel: what no run did, the policy before allowed and this one refuses.
    other = "import os\nos.symlink('a', 'b')\nprint('made')"
    check("symlink" not in only(fragment, "python"), "symlink was learned")
    equal(p.json("--lang", "python", "-c", other).json["stdout"], "made\n", "before")
    r = p.json("--lang", "python", "-c", other, policy=smaller).json
    check(r["exit_code"] == 1 and "PermissionError" in r["stderr"], "symlink under the smaller one: %r" % r)
    # Its C half is inside the interpreter, so it imports.
    other = "import _socket\ntry: _socket.socket(); print('made')\nexcept OSError as e: print(e.errno)"
    equal((p.json("--lang", "python", "-c", other).json["stdout"],
           p.json("--lang", "python", "-c", other, policy=smaller).json["stdout"]), ("made\n", "1\n"), "a socket")


@case("what bash and a compiled program did is enough for them, and for nothing else")
def _():
    p = Place(trace="required")
    for language, code, other in (
            ("bash", "for i in 1 2 3; do echo $i | tr 1 2; done; trap 'echo bye' EXIT", "mkdir made"),
            ("c", "#include <stdio.h>\n#include <unistd.h>\nint main(void){char *e = 0; (void)e; "
                  "printf(\"%d\\n\", (int)getpid() > 0); return 0;}",
             "#include <sys/stat.h>\nint main(void){return mkdir(\"made\", 0700) != 0;}")):
        runs = record(p, language, code, 3)
        fragment, _ = learned(p, runs)
        smaller = merged(p, fragment, language + ".json")
        for _ in range(3):
            equal(p.json("--lang", language, "-c", code, policy=smaller).json["exit_code"], 0, language)
        equal((p.json("--lang", language, "-c", other).json["exit_code"],
               p.json("--lang", language, "-c", other, policy=smaller).json["exit_code"]), (0, 1), "mkdir of " + language)
        if language == "c":
            caps = fragment["languages"]["c"]["capabilities"]
            equal([v for k, v in caps.items() if k != "syscalls"], [False] * 5, "a plain program: %r" % caps)


@case("a call that is missing from the set is what stops the program: --check says so before")
def _():
    p = Place(trace="required")
    runs = record(p, "bash", "echo one | tr o a", 2)
    fragment, _ = learned(p, runs)
    fragment["languages"]["bash"]["capabilities"]["syscalls"]["only"].remove("wait4")
    smaller = merged(p, fragment)
    r = learn(p, "--check", *runs, policy=smaller)
    equal(r.code, 1, "--check: %r" % r)
    one_line(r, "bash: would be refused: wait4")
    fragment["languages"]["bash"]["capabilities"]["subprocess"] = False
    r = learn(p, "--check", *runs, policy=merged(p, fragment))
    equal((r.code, b"would be refused: clone" in r.err, b"would be refused: execve" in r.err), (1, True, True),
          "--check without programs: %r" % r)


@case("modules that no run opened are absent, and a policy that lacks one that a run opened is told of")
def _():
    p = Place(trace="required")
    code = "import json, email.message\nprint(json.dumps([1]))"
    runs = record(p, "python", code, 1)
    fragment, _ = learned(p, runs)
    only_modules = fragment["languages"]["python"]["modules"]["only"]
    check({"json", "email"} <= set(only_modules), only_modules)
    smaller = merged(p, fragment)
    equal(p.json("--lang", "python", "-c", code, policy=smaller).json["stdout"], "[1]\n", "again")
    # Neither by an import nor by its file, and what is inside the interpreter is still there.
    probe = ("import os, sys\nfound = []\nfor name in ('xml', 'csv', 'json', 'os', 'sys', 'unittest'):\n"
             "    try: __import__(name); found.append(name)\n    except ImportError: pass\n"
             "print(found, [f for d in sys.path if os.path.isdir(d) for f in os.listdir(d) if f.startswith('csv')])")
    equal((p.json("--lang", "python", "-c", probe).json["stdout"].split("]")[0],
           p.json("--lang", "python", "-c", probe, policy=smaller).json["stdout"]),
          ("['xml', 'csv', 'json', 'os', 'sys', 'unittest'", "['json', 'os', 'sys'] []\n"), "modules")
    fragment["languages"]["python"]["modules"]["only"].remove("email")
    r = learn(p, "--check", *runs, policy=merged(p, fragment))
    equal(r.code, 1, "--check: %r" % r)
    one_line(r, "python: would be absent: module email")


@case("what was denied, and what the policy does not allow, is named and left out")
def _():
    p = Place(trace="required")
    wide = p.write_policy("wide.json", trace="required", capabilities={"ipc": True})
    code = ("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.ptrace(0, 0, 0, 0)\n"
            "libc.msgget(0, 0o1600)\nprint('done')")
    with open(wide) as f:
        policy = json.load(f)
    policy["languages"]["python"].pop("modules", None)
    policy["languages"]["python"].setdefault("capabilities", {}).update(ipc=True)
    wide = p.write("wide.json", json.dumps(policy), 0o600)
    runs = record(p, "python", code, 1, policy=wide)
    r = learn(p, *runs, policy=wide)
    equal(r.code, 0, "learn: %r" % r)
    check("python: was denied, and is left out: " in r.err.decode() and "ptrace (1)" in r.err.decode(), r.err)
    fragment = json.loads(r.out)
    calls = only(fragment, "python")
    check("ptrace" not in calls and "msgget" in calls, calls)
    equal(fragment["languages"]["python"]["capabilities"]["ipc"], True, "ipc")
    fragment, err = learned(p, runs)
    check("left out: msgget, as the policy" in err and "msgget" not in only(fragment, "python"), err)
    equal(fragment["languages"]["python"]["capabilities"]["ipc"], False, "ipc of the narrower policy")


@case("a fragment of a narrower policy never gives back what that one took")
def _():
    p = Place(trace="required")
    runs = record(p, "bash", "true", 1)
    fragment, _ = learned(p, runs)
    fragment["languages"]["bash"]["capabilities"]["syscalls"]["only"] = ["brk", "getpid"]
    narrow = merged(p, fragment)
    r = learn(p, *runs, policy=narrow)
    equal(r.code, 0, "learn: %r" % r)
    equal([c for c in only(json.loads(r.out), "bash") if c not in
           ("brk", "close", "exit", "exit_group", "getpid", "prctl", "read", "restart_syscall", "rt_sigreturn", "sendmsg",
            "write")], [], "calls")
    check(b"left out: openat, as the policy" in r.err, r.err)


@case("a trace, record or result that was changed, cut or taken from another run teaches nothing")
def _():
    p = Place(trace="required")
    first, second = record(p, "bash", "echo a >f; rm f", 2)
    folder = os.path.join(p.state, "results", first)
    other = os.path.join(p.state, "results", second)
    equal(learn(p, folder, other).code, 0, "as they are, by their folders")
    copy = p.path("copy")
    shutil.copytree(folder, copy)
    equal(learn(p, copy).code, 0, "a copy elsewhere")

    def refused(name, data, *says):
        path = os.path.join(copy, name)
        was = read(path)
        if data is None:
            os.unlink(path)
        else:
            with open(path, "wb") as f:
                f.write(data(was))
        r = learn(p, first, copy)
        equal((r.code, r.out), (1, b"") if says[0] != "!" else (2, b""), "%s: %r" % (name, r))
        one_line(r, *says[says[0] == "!":])
        with open(path, "wb") as f:
            f.write(was)
    refused("trace.jsonl", lambda d: d[:-1], "trace.jsonl is not the file that the record tells of")
    refused("trace.jsonl", lambda d: d.replace(b'"enter":1,', b'"enter":2,', 1), "trace.jsonl is not the file")
    refused("trace.jsonl", lambda d: read(os.path.join(other, "trace.jsonl")), "trace.jsonl is not the file")
    refused("trace.jsonl", lambda d: b"", "trace.jsonl is not the file")
    refused("trace.jsonl", None, "no trace.jsonl", '"trace": "required"')
    refused("result.json", lambda d: d.replace(b'"bash"', b'"java"'), "result.json is not the file")
    refused("MANIFEST", lambda d: read(os.path.join(other, "MANIFEST")), "MANIFEST is not the file")
    refused("record.dsse.json", lambda d: read(os.path.join(other, "record.dsse.json")), "record.tlog-proof")
    refused("record.tlog-proof", lambda d: read(os.path.join(other, "record.tlog-proof")), "record.tlog-proof")
    refused("record.dsse.json", lambda d: d[:100], "record.dsse.json")
    equal(learn(p, copy).code, 0, "as it was again")


@case("a run without a trace, without a whole one, or of a language that is not allowed teaches nothing")
def _():
    p = Place(trace="off")
    runs = record(p, "bash", "true", 1)
    r = learn(p, *runs)
    equal((r.code, r.out), (1, b""), "no trace: %r" % r)
    one_line(r, "no trace.jsonl")
    p = Place(trace="required")
    runs = record(p, "bash", "true", 1)
    only_c = p.write("c.json", json.dumps({"version": 1, "name": "only-c", "languages": {"c": {}}}), 0o600)
    r = learn(p, *runs, policy=only_c)
    equal((r.code, r.out), (1, b""), "not allowed: %r" % r)
    one_line(r, "only-c does not allow bash", "--policy")
    for words in ((), ("r_" + "0" * 32,), ("/no/such",), ("--chek", runs[0])):
        r = learn(p, *words)
        equal((r.code, r.out), (2, b""), "%r: %r" % (words, r))


@case("a packed trace teaches what a plain one does, and one that is no longer whole nothing")
def _():
    fragments = []
    for kind in ("plain", "gzip"):
        p = Place(trace_file=kind)
        runs = record(p, "bash", "echo a >f; rm f", 1)
        fragments.append(learned(p, runs)[0])
    equal(fragments[1], fragments[0], "fragments")
    path = os.path.join(p.state, "results", runs[0], "trace.jsonl.gz")
    was = read(path)
    for data in (was[:-1], was + b"x", b"", read(os.path.join(p.state, "results", runs[0], "result.json"))):
        with open(path, "wb") as f:
            f.write(data)
        r = learn(p, *runs)
        equal((r.code, r.out), (1, b""), "%d bytes of %d: %r" % (len(data), len(was), r))
        one_line(r, "trace.jsonl", "gzip")


@case("names that a program chose reach neither the fragment nor a terminal as they are")
def _():
    p = Place(trace="required")
    code = "import os\nopen(b'/tmp/\\x1b[2J\\xff.so', 'w').close()\nopen('/tmp/\\u202e\"', 'w').close()"
    runs = record(p, "python", code, 1)
    r = learn(p, *runs)
    equal(r.code, 0, "learn: %r" % r)
    check(b"\x1b" not in r.out + r.err and b"\xff" not in r.out + r.err, r)
    told = p.audit("facts", *runs, "--state", p.state)
    equal(told.code, 0, "facts: %r" % told)
    check(b"\x1b" not in told.out and b"\xff" not in told.out and b'"path_hex"' in told.out, told)
    for line in told.out.splitlines():
        json.loads(line)


need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer", "bailiff-tracer", "bailiff-policy",
              "bailiff-audit")
if not os.path.exists("/sys/kernel/btf/vmlinux"):
    print("skipped: this kernel has no BTF (/sys/kernel/btf/vmlinux)")
    sys.exit(77)
main()
