"""Every limit below, at and above its number: who is killed, by what, what is
kept, and that the next run is as if nothing had happened.

Run as: python3 test_limits.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import hashlib
import json
import os
import resource
import tempfile

from lib import (PATIENCE_S, Place, call, case, check, equal, main,
                 need_programs, need_root, one_line, read, recorded)

MIB = 1 << 20
TAIL = 65536  # OUTPUT_TAIL_MAX of executor/output.h


def place(**limits):
    """A policy in which each of these limits is the one that applies."""
    return Place(limits={k: {"default": v, "max": v}
                         for k, v in limits.items()})


def outcome_of(p, run_id):
    found = [r for r in p.records()
             if r["type"] == "outcome" and r["req"] == run_id]
    equal(len(found), 1, "outcomes of %s" % run_id)
    return found[0]


class End:
    """A run, what its record says, and that the next run is fine."""

    def __init__(self, p, language, code, *args, prefix=(), **more):
        words = p.words("run", "--json", "--lang", language, "-c", code,
                        *args)
        self.result = call(list(prefix) + words, **more)
        try:
            self.json = json.loads(self.result.out)
        except ValueError:
            raise AssertionError("no JSON: %r" % self.result)
        check(self.json["status"] is not None and self.json["audit"],
              "no end: %r" % self.json)
        self.out = self.json["stdout"]
        self.record = recorded(p, self.json)
        for key in ("status", "killed_by", "phase"):
            equal(self.record.get(key), self.json[key], "record: " + key)
        equal(self.record["viol"], sorted(self.record["viol"]), "viol")
        equal(p.bash("echo fine").out, b"fine\n", "the next run")

    def is_fine(self, out=None):
        equal((self.json["status"], self.json["killed_by"],
               self.json["exit_code"]), ("ok", None, 0),
              "end (stderr %r)" % self.json["stderr"])
        if out is not None:
            equal(self.out, out, "output")
        return self

    def is_killed(self, status, by, out=None, code=None):
        equal((self.json["status"], self.json["killed_by"]), (status, by),
              "end (%r)" % self.json)
        # Of an oom kill the kernel's hand may be seen, and on v1 even an end
        # of the program's own while the killed one was a child.
        if by != "memory":
            equal((self.json["exit_code"], self.json["signal"]),
                  (None, None), "no exit of its own")
        if out is not None:
            equal(self.out, out, "output before the end")
        if code is not None:
            equal(self.result.code, code, "exit of the command")
        return self

    def violates(self, *words):
        equal(self.record["viol"], sorted(words), "viol")
        return self


# ---- memory ----

FILL = "import sys;print('before',flush=True);a=bytearray(%d<<20);" \
       "a[::4096]=b'x'*len(a[::4096]);print('after')"


@case("memory: what fits runs, what does not is killed by the oom counter")
def _():
    p = place(memory=64 * MIB)
    End(p, "python", FILL % 32).is_fine("before\nafter\n").violates()
    e = End(p, "python", FILL % 80)
    e.is_killed("memory", "memory", "before\n", 137)
    check(e.json["use"]["memory_peak"] <= 64 * MIB,
          "peak %d" % e.json["use"]["memory_peak"])
    equal(p.result(e.json["run_id"], "stdout").out, b"before\n", "kept")
    r = p.python(FILL % 80)
    equal(r.code, 137, "exit")
    one_line(r, "memory")


CHILD = """
import os, time
def fill(mib):
    a = bytearray(mib << 20)
    a[::4096] = b'x' * len(a[::4096])
    return a
"""


@case("memory: four children share one limit that each of them would fit in")
def _():
    p = place(memory=96 * MIB)
    End(p, "python", CHILD + "a=fill(36);print('one')").is_fine("one\n")
    End(p, "python", CHILD + """
print('before', flush=True)
pids = []
for i in range(4):
    pid = os.fork()
    if pid == 0:
        a = fill(36)
        time.sleep(1000)
    pids.append(pid)
for pid in pids: os.waitpid(pid, 0)
""").is_killed("memory", "memory", "before\n")


@case("memory: a killed child is told although its parent goes on to exit 0")
def _():
    p = place(memory=64 * MIB)
    End(p, "python", CHILD + """
print('before', flush=True)
pid = os.fork()
if pid == 0:
    fill(200)
os.waitpid(pid, 0)
os._exit(0)
""").is_killed("memory", "memory", "before\n")
    End(p, "python", CHILD + """
print('before', flush=True)
if os.fork() == 0:
    fill(200)
time.sleep(1000)
""").is_killed("memory", "memory", "before\n")


@case("memory: pages of files in the scratch count, wherever they lie")
def _():
    p = place(memory=64 * MIB, scratch_bytes=512 * MIB)
    End(p, "bash", "head -c 16M /dev/zero > /tmp/a && rm /tmp/a; echo done"
        ).is_fine("done\n")
    for where in ("/sandbox", "/tmp", "/dev/shm"):
        End(p, "bash", "echo before; head -c 100M /dev/zero > %s/a; echo on;"
            "sleep 1000" % where).is_killed("memory", "memory")


@case("memory: many small processes are one large one")
def _():
    p = place(memory=96 * MIB, pids=250)
    End(p, "python", CHILD + """
print('before', flush=True)
for i in range(200):
    if os.fork() == 0:
        a = fill(2)
        time.sleep(1000)
time.sleep(1000)
""").is_killed("memory", "memory", "before\n")


# ---- time ----

SPIN = "import time\nprint('before',flush=True)\n" \
       "while time.process_time()<%s: pass\nprint('after')"


@case("cpu: below the limit nothing happens, above it the run ends")
def _():
    p = place(cpu_ms=1500)
    End(p, "python", SPIN % 0.5).is_fine("before\nafter\n")
    e = End(p, "python", SPIN % 1000)
    e.is_killed("timeout", "cpu", "before\n", 124)
    check(e.json["use"]["cpu_us"] >= 1500000, "cpu %r" % e.json["use"])
    # SIGXCPU, the kernel's own net, is not waited for, nor heeded.
    End(p, "python", "import signal\nsignal.signal(signal.SIGXCPU,"
        "signal.SIG_IGN)\nprint('before',flush=True)\nwhile True: pass"
        ).is_killed("timeout", "cpu", "before\n")


@case("cpu: four children spend one budget, dead ones too")
def _():
    p = place(cpu_ms=1500)
    e = End(p, "bash", "echo before; for i in 1 2 3 4; do (while :; do :; "
            "done) & done; wait").is_killed("timeout", "cpu", "before\n")
    check(e.json["use"]["cpu_us"] >= 1500000, "cpu %r" % e.json["use"])
    # Each ends long before the limit; their sum does not.
    End(p, "python", """
import os, time
print('before', flush=True)
while True:
    pid = os.fork()
    if pid == 0:
        while time.process_time() < 0.1: pass
        os._exit(0)
    os.waitpid(pid, 0)
""").is_killed("timeout", "cpu", "before\n")


@case("wall: a sleeper, a stopped program and a stopped tree end alike")
def _():
    p = place(wall_ms=1000)
    p_long = place(wall_ms=60000)
    End(p_long, "bash", "sleep 0.2; echo done").is_fine("done\n")
    for code in ("echo before; sleep 1000", "echo before; kill -STOP $$",
                 "echo before; (sleep 1000 & kill -STOP $!; kill -STOP 0)",
                 "trap '' TERM INT HUP XCPU; echo before; sleep 1000 & wait;"
                 "while :; do sleep 1; done"):
        e = End(p, "bash", code)
        e.is_killed("timeout", "wall", "before\n", 124)
        check(e.json["use"]["wall_us"] >= 1000000, "wall %r" % e.json["use"])


# ---- counts ----

FORK = """
import os, time, sys
r, w = os.pipe()
n, why = 0, 0
while n < %d:
    try:
        pid = os.fork()
    except OSError as e:
        why = e.errno
        break
    if pid == 0:
        os.close(w)
        os.read(r, 1)
        os._exit(0)
    n += 1
print(n, why)
os.close(w)
for i in range(n):
    os.wait()
"""


@case("pids: one more process than allowed is EAGAIN, and the record says so")
def _():
    p = place(pids=8)
    End(p, "python", FORK % 6).is_fine("6 0\n").violates()
    End(p, "python", FORK % 7).is_fine("7 0\n").violates()
    e = End(p, "python", FORK % 8).is_fine("7 11\n")
    e.violates("limit.pids.reached")
    check(e.json["use"]["pids_peak"] >= 8, "peak %r" % e.json["use"])


@case("pids: threads count like processes")
def _():
    p = place(pids=8)
    End(p, "python", """
import threading
end = threading.Event()
n = 0
try:
    for i in range(20):
        threading.Thread(target=end.wait).start()
        n += 1
except RuntimeError:
    print(n)
end.set()
""").is_fine("7\n").violates("limit.pids.reached")


@case("open files: the number after the last one is EMFILE")
def _():
    p = place(open_files=32)
    code = """
import os, resource
fds, why = [], 0
for i in range(%d):
    try:
        fds.append(os.open('/dev/null', os.O_RDONLY))
    except OSError as e:
        why = e.errno
        break
print(max(fds), why)
"""
    End(p, "python", code % 20).is_fine("22 0\n")
    End(p, "python", code % 29).is_fine("31 0\n")
    End(p, "python", code % 30).is_fine("31 24\n")
    End(p, "python", "import os,resource\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "try: os.dup2(1, 32)\nexcept OSError as e: print(e.errno)\n"
        "try: resource.setrlimit(resource.RLIMIT_NOFILE, (33, 33))\n"
        "except (ValueError, PermissionError): print('no')\n"
        ).is_fine("(32, 32)\n9\nno\n")


@case("file size: at the limit it is written, above it SIGXFSZ or EFBIG")
def _():
    p = place(file_size=100000)
    code = "import os\nf=os.open('f',os.O_CREAT|os.O_WRONLY)\n" \
           "n=os.write(f,b'x'*%d)\nprint(n)\n" \
           "try: os.write(f,b'y')\nexcept OSError as e: print(e.errno)"
    End(p, "python", code % 99998).is_fine("99998\n")
    End(p, "python", code % 100000).is_fine("100000\n27\n")
    # The kernel writes what fits and refuses the rest.
    End(p, "python", code % 100001).is_fine("100000\n27\n")
    e = End(p, "python", "import os,signal\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
            "print('before',flush=True)\n"
            "f=os.open('f',os.O_CREAT|os.O_WRONLY)\n"
            "while True: os.write(f,b'x'*50000)")
    equal((e.json["status"], e.json["signal"], e.out, e.json["killed_by"]),
          ("error", 25, "before\n", None), "SIGXFSZ")
    equal(os.stat(e.json["result_folder"] + "/files/f").st_size, 100000,
          "kept")


# ---- scratch ----

SPEND = """
import os
total = 0
for where in (%s):
    fd = os.open(where + '/fill', os.O_CREAT | os.O_WRONLY)
    try:
        while total < %d:
            total += os.write(fd, b'x' * 4096)
    except OSError as e:
        print(where, e.errno)
print(total)
"""
PLACES = "'/tmp', '/sandbox', '/dev/shm'"


@case("scratch bytes: three places, one number; ENOSPC and nobody is killed")
def _():
    p = place(scratch_bytes=MIB)
    # One page holds the code.
    room = MIB - 4096
    End(p, "python", SPEND % ("'/sandbox',", room - 4096)
        ).is_fine("%d\n" % (room - 4096))
    End(p, "python", SPEND % ("'/sandbox',", room)).is_fine("%d\n" % room)
    e = End(p, "python", SPEND % (PLACES, MIB))
    e.is_fine("/tmp 28\n/sandbox 28\n/dev/shm 28\n%d\n" % room).violates()
    # What lies in /sandbox is still taken, empty as it is.
    equal(e.json["use"]["files"], 1, "artifacts")
    e = End(p, "bash", "echo before; head -c 2M /dev/zero > a || exit 3")
    equal((e.json["status"], e.json["exit_code"], e.json["killed_by"]),
          ("error", 3, None), "ENOSPC as the program's own error")
    equal(e.json["use"]["file_bytes"], room, "what fitted is kept")


@case("scratch inodes: files, links to them and directories count")
def _():
    p = place(scratch_inodes=40)
    code = """
import os
n, why = 0, 0
try:
    for i in range(%d):
        where = %s[i %% 3]
        %s
        n += 1
except OSError as e:
    why = e.errno
print(n, why)
"""
    makers = ("os.close(os.open(where + '/%d' % i, os.O_CREAT))",
              "os.mkdir(where + '/%d' % i)",
              "os.symlink('x', where + '/%d' % i)")
    for make in makers:
        End(p, "python", code % (40, "(%s)" % PLACES, make)
            ).is_fine("40 0\n")
        e = End(p, "python", code % (60, "(%s)" % PLACES, make))
        n, why = e.is_fine().out.split()
        check(40 <= int(n) <= 42 and why == "28", "%s inodes" % n)


# ---- output ----

@case("stdout, stderr: head and tail to the byte, below, at and above")
def _():
    p = place(stdout=1000, stderr=500)
    data = bytes((i * 7 + i // 251) % 256 for i in range(200000))
    code = "import os,sys\n" \
           "d=bytes((i*7+i//251)%%256 for i in range(200000))\n" \
           "def put(fd,b):\n while b: b=b[os.write(fd,b):]\n" \
           "put(1,d[:%d]);put(2,d[:%d])"
    for out, err in ((999, 499), (1000, 500), (1001, 501),
                     (1000 + TAIL, 500 + TAIL), (1001 + TAIL, 501 + TAIL),
                     (200000, 0), (0, 200000)):
        e = End(p, "python", code % (out, err)).is_fine().violates()
        folder = e.json["result_folder"]
        for name, n, limit in (("stdout", out, 1000), ("stderr", err, 500)):
            head, rest = data[:n][:limit], data[:n][limit:]
            what = "%s of %d" % (name, n)
            equal(read(folder + "/" + name), head, what)
            has_tail = os.path.exists(folder + "/%s.tail" % name)
            equal(has_tail, n > limit, what + ": has a tail")
            if has_tail:
                equal(read(folder + "/%s.tail" % name), rest[-TAIL:],
                      what + ": tail")
            equal((e.json[name + "_total"], e.json[name + "_truncated"]),
                  (n, n > limit), what + " in the reply")
            equal(e.record[name], {
                "sha256": hashlib.sha256(head).hexdigest(),
                "size": len(head), "total": n,
                "total_sha256": hashlib.sha256(data[:n]).hexdigest()}, what)


@case("stdout, stderr: of two that come in turns each keeps its own")
def _():
    p = place(stdout=5000, stderr=3000)
    e = End(p, "python", "import os\nfor i in range(2000):\n"
            " os.write(1,b'o%03d\\0'%(i%1000));os.write(2,b'e%03d\\n'%(i%1000))")
    e.is_fine()
    out = b"".join(b"o%03d\0" % (i % 1000) for i in range(2000))
    err = b"".join(b"e%03d\n" % (i % 1000) for i in range(2000))
    folder = e.json["result_folder"]
    for name, data, limit in (("stdout", out, 5000), ("stderr", err, 3000)):
        equal(read(folder + "/" + name), data[:limit], name)
        equal(read(folder + "/%s.tail" % name), data[limit:], name + ".tail")
        equal(e.record[name]["total_sha256"],
              hashlib.sha256(data).hexdigest(), name)


@case("stdout: a limit of 0 keeps nothing, counts and hashes all")
def _():
    p = place(stdout=0, stderr=0)
    j = p.json("--lang", "bash", "-c", "echo fine; echo err >&2").json
    equal((j["status"], j["stdout"], j["stdout_total"]), ("ok", "", 5),
          "reply")
    e = outcome_of(p, j["run_id"])
    nothing, all_of_it = hashlib.sha256(), hashlib.sha256(b"fine\n")
    equal((e["stdout"]["sha256"], e["stdout"]["total_sha256"]),
          (nothing.hexdigest(), all_of_it.hexdigest()), "record")
    equal(read(j["result_folder"] + "/stdout.tail"), b"fine\n", "tail")
    equal(read(j["result_folder"] + "/stderr.tail"), b"err\n", "tail")


@case("output: at the limit a run ends by itself, a byte more and it is killed")
def _():
    p = place(output=100000)
    code = "import os,time\ndef put(fd,b):\n while b: b=b[os.write(fd,b):]\n" \
           "put(1,b'o'*%d);put(2,b'e'*%d);%s"
    End(p, "python", code % (60000, 39999, "")).is_fine()
    End(p, "python", code % (60000, 40000, "time.sleep(0.2)")).is_fine()
    e = End(p, "python", code % (60000, 40001, "time.sleep(1000)"))
    e.is_killed("killed", "output", "o" * 60000)
    equal((e.json["stdout_total"], e.json["stderr_total"]), (60000, 40001),
          "both are counted")
    for flood in ("yes", "yes >&2", "yes & yes >&2 & wait",
                  "for i in 1 2 3 4; do yes & done; exit 0"):
        e = End(p, "bash", flood)
        total = e.json["stdout_total"] + e.json["stderr_total"]
        if not flood.endswith("exit 0"):
            e.is_killed("killed", "output")
            check(total > 100000, "total %d" % total)
        kept = os.listdir(e.json["result_folder"])
        check("stdout" in kept and "MANIFEST" in kept, "kept %r" % kept)


# ---- artifacts ----

def listed(e):
    """What was kept and what result.json says was not."""
    folder = e.json["result_folder"]
    top = folder + "/files"
    kept = sorted(os.path.relpath(os.path.join(d, f), top)
                  for d, _, files in os.walk(top) for f in files)
    files = json.loads(read(folder + "/result.json"))["files"]
    skipped = [(s["name"], s["why"])
               for s in files.get("skipped_names", [])]
    equal(files["count"], len(kept), "count in result.json")
    equal(e.record["files"].get("skipped", 0), files["skipped"], "skipped")
    equal(e.json["use"]["files_skipped"], files["skipped"], "reply")
    return kept, skipped


@case("artifacts: number, bytes and depth; what is left out is named")
def _():
    p = place(artifacts=3)
    e = End(p, "bash", "touch a b c").is_fine().violates()
    equal(listed(e), (["a", "b", "c"], []), "at")
    e = End(p, "bash", "touch a b c d e").is_fine()
    equal(listed(e.violates("limit.artifacts.reached")),
          (["a", "b", "c"], [("d", "artifacts"), ("e", "artifacts")]),
          "above")
    p = place(artifact_bytes=1000)
    e = End(p, "bash", "head -c 600 /dev/zero>a;head -c 400 /dev/zero>b")
    equal(listed(e.is_fine().violates()), (["a", "b"], []), "bytes at")
    e = End(p, "bash", "head -c 600 /dev/zero>a;head -c 401 /dev/zero>b;"
            "head -c 400 /dev/zero>c; truncate -s 60M d")
    equal(listed(e.violates("limit.artifact_bytes.reached")),
          (["a", "c"], [("b", "artifact_bytes"), ("d", "artifact_bytes")]),
          "bytes above")
    p = place(artifact_depth=2)
    e = End(p, "bash", "mkdir -p a/b/c; touch 1 a/2 a/b/3 a/b/c/4")
    equal(listed(e.violates("limit.artifact_depth.reached")),
          (["1", "a/2"], [("a/b", "artifact_depth")]), "depth")
    p = place(artifacts=0, artifact_bytes=0)
    e = End(p, "bash", "touch a").violates("limit.artifacts.reached")
    equal(listed(e), ([], [("a", "artifacts")]), "none")


# ---- requests ----

def denied(p, reason, *words, **more):
    r = p.json(*words, **more)
    equal((r.code, r.json["status"], r.json["decision"]["reasons"]),
          (126, "denied", [reason]), "denial")
    last = [x for x in p.records() if x.get("req") == r.json["run_id"]]
    equal([(x["type"], x["reasons"]) for x in last],
          [("denial", [reason])], "record")
    equal(p.bash("echo fine").out, b"fine\n", "the next run")


@case("code, stdin, arguments: at the limit they run, above it they are denied")
def _():
    p = place(code=100, stdin=50, args=10)
    at = "cat; echo $1$2 #"
    at += "x" * (100 - len(at))
    r = p.bash(at, "--", "1234", "abcd", stdin=b"i" * 50)
    equal((r.code, r.out), (0, b"i" * 50 + b"1234abcd\n"), "all at the limit")
    denied(p, "code.too_large", "--lang", "bash", "-c", at + "x")
    denied(p, "stdin.too_large", "--lang", "bash", "-c", "cat",
           stdin=b"i" * 51)
    denied(p, "args.too_large", "--lang", "bash", "-c", "echo", "--", "1234",
           "abcde")
    # Each argument has an end of its own.
    denied(p, "args.too_large", "--lang", "bash", "-c", "echo", "--",
           *[""] * 11)
    equal(p.bash("echo $#", "--", *[""] * 10).out, b"10\n", "ten empty ones")


@case("input files: number and bytes together")
def _():
    p = place(inputs=2, input_bytes=100)
    folder = tempfile.mkdtemp(dir=p.dir)
    os.chmod(folder, 0o755)
    policy = os.path.join(p.dir, "q.json")
    with open(p.policy) as f:
        text = json.load(f)
    text["paths"] = {"read": [folder], "export": []}
    with open(policy, "w") as f:
        json.dump(text, f)
    p.policy = policy
    for name, size in (("a", 60), ("b", 40), ("c", 41), ("d", 101),
                       ("e", 0)):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(b"x" * size)
    a, b, c, d = (["--file", os.path.join(folder, n)] for n in "abcd")
    equal(p.bash("cat a b | wc -c", *a, *b).out, b"100\n", "at")
    denied(p, "inputs.too_many", "--lang", "bash", "-c", "cat", *a, *b, *c)
    denied(p, "path.too_large", "--lang", "bash", "-c", "cat", *a, *c)
    denied(p, "path.too_large", "--lang", "bash", "-c", "cat", *d)
    # What a front sends along is in the same budget.
    a, b, c, d, e = (["--put", os.path.join(folder, n)] for n in "abcde")
    equal(p.bash("cat a b | wc -c", *a, *b).out, b"100\n", "sent, at")
    denied(p, "inputs.too_many", "--lang", "bash", "-c", "cat", *a, *b, *e)
    denied(p, "inputs.too_large", "--lang", "bash", "-c", "cat", *a, *c)
    denied(p, "inputs.too_large", "--lang", "bash", "-c", "cat", *d)


# ---- the ends of the table in policy/limits.c ----

CEILINGS = {
    "wall_ms": 86400000, "cpu_ms": 86400000, "memory": 1 << 40,
    "pids": 32768, "open_files": 4032, "file_size": 1 << 40,
    "scratch_bytes": 1 << 40, "scratch_inodes": 16777216, "stdout": 1 << 30,
    "stderr": 1 << 30, "output": 1 << 40, "code": 64 * MIB,
    "stdin": 1 << 30, "args": 65536, "inputs": 8, "input_bytes": 1 << 30,
    "artifacts": 4096, "artifact_bytes": 1 << 40, "artifact_depth": 64}
# What an account may start on this host bounds it too, and is named then.
PROCESSES = resource.getrlimit(resource.RLIMIT_NPROC)[1]
if PROCESSES != resource.RLIM_INFINITY:
    CEILINGS["pids"] = min(CEILINGS["pids"], PROCESSES - 2)
FLOORS = {
    "memory": 8 * MIB, "pids": 2, "open_files": 16, "file_size": 0,
    "scratch_bytes": 65536, "scratch_inodes": 32, "stderr": 0, "stdin": 0,
    "args": 0, "inputs": 0, "input_bytes": 0, "artifacts": 0,
    "artifact_bytes": 0, "artifact_depth": 0}


@case("every limit at its ceiling, and at its floor where a run can live")
def _():
    p = place(**CEILINGS)
    End(p, "python", "print('high')").is_fine("high\n").violates()
    p = place(**FLOORS)
    # With depth 0 nobody looks into /sandbox, and every run says so.
    End(p, "bash", "echo low").is_fine("low\n").violates(
        "limit.artifact_depth.reached")


@case("a floor where no run can live ends it by its name")
def _():
    for limits, status, by in (({"wall_ms": 1}, "timeout", "wall"),
                               ({"cpu_ms": 1}, "timeout", "cpu"),
                               ({"output": 0}, "killed", "output")):
        p = place(**limits)
        j = p.json("--lang", "bash", "-c",
                   "echo x; while :; do :; done").json
        equal((j["status"], j["killed_by"]), (status, by), "%r" % limits)
        equal(outcome_of(p, j["run_id"])["killed_by"], by, "record")


# ---- other hosts ----

@case("a host with v1 alone: memory, cpu, pids and wall end as they do here")
def _():
    if not os.path.exists("/sys/fs/cgroup/unified/cgroup.procs"):
        print("     not a hybrid host: v1 alone is not played")
        return
    alone = ("/usr/bin/unshare", "-m", "/bin/bash", "-c",
             "umount /sys/fs/cgroup/unified && exec \"$@\"", "-")
    p = place(memory=64 * MIB, cpu_ms=1500, pids=8, wall_ms=20000)
    # The first command starts the service, in a world without v2.
    End(p, "bash", "echo hello", prefix=alone).is_fine("hello\n")
    pid = p.launchers()[0]
    mounts = read("/proc/%d/mountinfo" % p.supervisors()[0]).decode()
    check("/sys/fs/cgroup/unified" not in mounts, "v2 is there (%d)" % pid)
    End(p, "python", FILL % 80).is_killed("memory", "memory", "before\n")
    e = End(p, "bash", "echo before; for i in 1 2 3 4; do (while :; do :; "
            "done) & done; wait").is_killed("timeout", "cpu", "before\n")
    check(e.json["use"]["cpu_us"] >= 1500000, "cpu %r" % e.json["use"])
    End(p, "python", FORK % 8).is_fine("7 11\n").violates(
        "limit.pids.reached")
    End(p, "bash", "echo before; kill -STOP $$", "--timeout", "1").is_killed(
        "timeout", "wall", "before\n")


@case("after all of it the log and its results verify")
def _():
    p = place(memory=64 * MIB, artifacts=2, stdout=10, pids=8)
    End(p, "python", FILL % 80).is_killed("memory", "memory")
    End(p, "bash", "touch a b c d; ln -s a l; echo 0123456789abcdef")
    End(p, "python", FORK % 8)
    p.stop()
    r = p.verify()
    equal(r.code, 0, "verify: %r" % r)


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-collect")
    main()
