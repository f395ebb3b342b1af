"""Runs under a policy that requires tracing: seen whole, or killed, or not run.

Run as: python3 test_trace.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

from lib import (BAILIFF, PRESET, SOURCE, Place, Skip, call, case, check, equal, kill, main, need_programs, need_root, one_line, parent,
                 processes, read, wait_for)


def tracers(place):
    parents = set(place.supervisors())
    return processes("bailiff-tracer", lambda pid: parent(pid) in parents)


def trace_of(place, run_id):
    path = os.path.join(place.state, "results", run_id, "trace.jsonl")
    return [json.loads(line) for line in read(path).decode().splitlines()], read(path)


def outcome_of(place, run_id):
    return [r for r in place.records() if r["type"] == "outcome" and r["req"] == run_id][0]


def open_(name):
    """A policy whose python may import everything, and which says so of tracing."""
    with open(PRESET) as f:
        policy = json.load(f)
    for language in policy["languages"].values():
        language.pop("modules", None)
    policy.pop("trace", None)
    if name:
        policy["trace"] = name
    return policy


def place(mode="required"):
    p = Place()
    policy = open_(mode)
    with open(p.policy, "w") as f:
        json.dump(policy, f)
    return p


@case("a run's record has the digest of its trace, and the trace every call")
def _():
    p = place()
    r = p.json("--lang", "python", "-c", "open('/sandbox/made','w').write('x'); print(1)")
    equal(r.json["status"], "ok", "status")
    lines, raw = trace_of(p, r.json["run_id"])
    told = outcome_of(p, r.json["run_id"])["trace"]
    equal(told, {"bytes": len(raw), "complete": True, "events": len(lines) - 2,
                 "sha256": hashlib.sha256(raw).hexdigest(), "tier": "bpf"}, "record")
    equal(lines[0]["run"], r.json["run_id"], "header")
    first = [e for e in lines if e["type"] == "exec"]
    check(first[0]["truth"].startswith("/usr/bin/python3"), "first exec: %r" % first)
    equal(first[0]["argv"][-1], {"a": "/sandbox/main.py"}, "argv")
    made = [e for e in lines if e.get("given") == "/sandbox/made"]
    equal([(e["truth"], e["call"]) for e in made], [("/sandbox/made", "openat")], "the file it made")
    manifest = read(os.path.join(p.state, "results", r.json["run_id"], "MANIFEST")).decode()
    check("trace.jsonl" in manifest, "MANIFEST: %r" % manifest)
    equal(p.verify().code, 0, "verify")


@case("a byte of a trace that is changed later is noticed")
def _():
    p = place()
    r = p.json("--lang", "bash", "-c", "true")
    path = os.path.join(p.state, "results", r.json["run_id"], "trace.jsonl")
    data = read(path)
    with open(path, "wb") as f:
        f.write(data.replace(b'"seq":1,', b'"seq":7,'))
    equal(p.verify().code != 0, True, "verify")


@case("a trace that is kept packed: the record is about its lines, verify and audit trace read it")
def _():
    p = place()
    policy = open_("required")
    policy["trace_file"] = "gzip"
    with open(p.policy, "w") as f:
        json.dump(policy, f)
    r = p.json("--lang", "c", "-c", "int main(void) { return 0; }").json
    if r["status"] == "error":
        r = p.json("--lang", "bash", "-c", "true").json
    equal(r["status"], "ok", "status")
    folder = r["result_folder"]
    path = os.path.join(folder, "trace.jsonl.gz")
    check(not os.path.exists(os.path.join(folder, "trace.jsonl")), "a plain one beside it")
    stored = read(path)
    raw = gzip.decompress(stored)
    told = outcome_of(p, r["run_id"])["trace"]
    equal((told["sha256"], told["bytes"], told["complete"]), (hashlib.sha256(raw).hexdigest(), len(raw), True), "record")
    check(hashlib.sha256(stored).hexdigest() + "  trace.jsonl.gz\n" in read(os.path.join(folder, "MANIFEST")).decode(),
          "MANIFEST is about the file")
    equal(p.verify().code, 0, "verify")
    equal(p.audit("trace", r["run_id"], p.state, "--json").out, raw, "--json")
    equal(p.audit("trace", r["run_id"], p.state, "--exec").code, 0, "audit trace")
    bad = {"another text": gzip.compress(raw.replace(b'"seq":1,', b'"seq":7,')), "cut": stored[:-9],
           "bytes behind": stored + b"x", "plain": raw, "two members": stored + stored,
           "a bomb": gzip.compress(b"0" * (1 << 26))}
    for what, data in bad.items():
        with open(path, "wb") as f:
            f.write(data)
        v = p.verify()
        equal(v.code != 0 and b"results.trace" in v.out, True, "verify of %s: %r" % (what, v))
        shown = p.audit("trace", r["run_id"], p.state)
        equal(shown.code != 0 or what == "another text", True, "audit trace of %s" % what)


@case("what the filter denies is in the trace with its number and error")
def _():
    p = place()
    code = ("import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
            "for n in (101, 165, 425, 321): print(libc.syscall(n, 0, 0, 0, 0), ctypes.get_errno())\n")
    if os.uname().machine != "x86_64":
        return
    r = p.json("--lang", "python", "-c", code)
    equal(r.json["stdout"].split(), ["-1", "1", "-1", "1", "-1", "38", "-1", "1"], "answers: %r" % r.json["stdout"])
    lines, _ = trace_of(p, r.json["run_id"])
    denied = [(e["call"], e["error"]) for e in lines if e["type"] == "denied" and e["plane"] == "program"]
    for want in (("ptrace", "EPERM"), ("mount", "EPERM"), ("io_uring_setup", "ENOSYS"), ("bpf", "EPERM")):
        check(want in denied, "%r is not in %r" % (want, denied))
    equal(lines[-1]["complete"], True, "books")


@case("each call that the filter refuses is told as denied, with its number and error")
def _():
    if os.uname().machine != "x86_64":
        return
    with open(os.path.join(SOURCE, "tests/escape/golden/x86_64.txt")) as f:
        rows = [line.split() for line in f if not line.startswith("#")]
    # uprobe and uretprobe: no filter sees them since Linux 6.14.
    want = {int(r[0]): r[2].replace("arguments:", "") for r in rows
            if r[2].replace("arguments:", "") in ("EPERM", "ENOSYS") and int(r[0]) not in (335, 336)}
    p = place()
    code = ("import ctypes\nlibc = ctypes.CDLL(None)\nbad = [ctypes.c_long(-1)] * 6\n"
            "for number in %r: libc.syscall(ctypes.c_long(number), *bad)\n" % sorted(want))
    r = p.json("--lang", "python", p.write("code.py", code))
    equal(r.json["status"], "ok", "status")
    lines, _ = trace_of(p, r.json["run_id"])
    told = {}
    for e in lines:
        if e["type"] == "denied" and e["plane"] == "program" and e["args"][0] == "0x" + "f" * 16:
            told[e["nr"]] = e["error"]
    wrong = {n: (told.get(n), want[n]) for n in want if told.get(n) != want[n]}
    equal(wrong, {}, "calls")
    check(len(want) > 150, "only %d calls" % len(want))
    counted = {c["nr"]: c["denied"] for c in lines[-1]["calls"] if c["plane"] == "program"}
    equal([n for n in want if 0 <= n < 511 and counted.get(n, 0) < 1], [], "counters")
    equal(lines[-1]["complete"], True, "books: %r" % lines[-1].get("note"))


@case("bailiff audit trace shows it: all, denied, files, net, exec, summary")
def _():
    p = place()
    code = ("import os, socket\n"
            "s = socket.socket(); s.bind(('127.0.0.1', 0))\n"
            "open('/sandbox/a\\x1b[2J\\xff', 'w')\n"
            "try: os.chroot('/')\n"
            "except OSError: pass\n"
            "try: open('/no/such')\n"
            "except OSError: pass\n")
    run = p.json("--lang", "python", "-c", code).json["run_id"]

    def shown(*options):
        r = p.audit("trace", run, p.state, *options)
        equal((r.code, r.err), (0, b""), "exit of %r" % (options,))
        check(b"\x1b" not in r.out and b"\xff" not in r.out, "hostile bytes reach a terminal")
        return r.out.decode()
    every = shown()
    check("complete yes" in every and run in every, "head: %r" % every[:200])
    times = [float(line.split()[0]) for line in every.splitlines()[5:]]
    equal(times, sorted(times), "times")
    check("chroot = EPERM" in shown("--denied") and "/no/such" not in shown("--denied"), shown("--denied"))
    check("/no/such = ENOENT" in shown("--files") and "CREAT" in shown("--files"), shown("--files"))
    check("socket     INET STREAM" in shown("--net") and "127.0.0.1:0 -> inet 127.0.0.1:" in shown("--net"), shown("--net"))
    check("/usr/bin/python3" in shown("--exec") and "code 0" in shown("--exec"), shown("--exec"))
    row = [line.split() for line in shown("--summary").splitlines() if line.startswith("chroot ")]
    equal(row, [["chroot", "0", "0", "0", "1", "EPERM", "1"]], "summary")
    raw = p.audit("trace", run, p.state, "--json").out
    equal(raw, read(os.path.join(p.state, "results", run, "trace.jsonl")), "--json")
    equal(p.audit("trace", run, p.state, "--net", "--exec").code, 2, "two at once")
    equal(p.audit("trace", "r_1", p.state).code, 2, "no run id")
    equal(p.audit("trace", "r_" + "0" * 32, p.state).code, 2, "no such run")
    path = os.path.join(p.state, "results", run, "trace.jsonl")
    for bad in (raw[:-1], raw.replace(b"{", b"[", 1), b"", raw + raw, raw[:200] + b"\xff" + raw[200:]):
        with open(path, "wb") as f:
            f.write(bad)
        equal(p.audit("trace", run, p.state).code, 1, "a file that is none")


@case("runs beside each other have traces of their own")
def _():
    p = place()
    fronts = [p.start("--json", "--lang", "bash", "-c", "for i in {1..%d}; do ( : ); done" % n) for n in (3, 20, 40)]
    forks = []
    for front in fronts:
        answer = json.loads(front.communicate(timeout=120)[0])
        equal(answer["status"], "ok", "status")
        lines, _ = trace_of(p, answer["run_id"])
        equal(lines[-1]["complete"], True, "books: %r" % lines[-1].get("note"))
        forks.append(len([e for e in lines if e["type"] == "fork" and e["plane"] == "program"]))
    equal(forks, [3, 20, 40], "processes of each")


@case("a tracer that is killed takes what it watched along, and a new service has a new one")
def _():
    p = place()
    front = p.start("--lang", "bash", "-c", "echo up; sleep 1000")
    is_up(front)
    services = p.supervisors()
    kill(tracers(p)[0])
    front.communicate(timeout=120)
    told = [r for r in p.records() if r["type"] == "outcome"][0]
    equal((told["status"], told["killed_by"], "trace" in told), ("killed", "tracer", False), "record")
    wait_for(lambda: not set(services) & set(p.supervisors()), "the service's end")
    r = p.json("--lang", "bash", "-c", "echo again")
    equal((r.json["status"], outcome_of(p, r.json["run_id"])["trace"]["complete"]), ("ok", True), "the next run")
    equal(p.verify().code, 0, "verify")


@case("what a stopped tracer loses is counted, and the record says incomplete")
def _():
    p = place()
    front = p.start("--lang", "python", "-c",
                    "print('up', flush=True)\nwhile True: open('/sandbox/main.py').close()")
    is_up(front)
    tracer = tracers(p)[0]
    os.kill(tracer, signal.SIGSTOP)
    time.sleep(1)
    os.kill(tracer, signal.SIGCONT)
    kill(front.pid)
    front.communicate()
    outcome = wait_for(lambda: [r for r in p.records() if r["type"] == "outcome"], "the record")[0]
    wait_for(lambda: os.path.exists(os.path.join(p.state, "results", outcome["req"])), "its folder")
    told = outcome["trace"]
    lines, _ = trace_of(p, outcome["req"])
    books = lines[-1]["books"]
    equal((told["complete"], lines[-1]["complete"]), (False, False), "completeness: %r" % books)
    equal((books["emitted"] + books["lost"], books["received"]), (books["seq"], books["emitted"]), "books")
    opened = [c for c in lines[-1]["calls"] if c.get("call") == "openat" and c["plane"] == "program"][0]
    told_opens = len([e for e in lines if e.get("given") == "/sandbox/main.py"])
    check(opened["ok"] > told_opens and books["lost"] > 0, "counters: %r, %r" % (opened, books))


def is_up(front):
    equal(front.stdout.readline(), b"up\n", "its first line")


@case("with best-effort a run without its tracer goes on, and its record says so")
def _():
    p = place("best-effort")
    front = p.start("--lang", "bash", "-c", "echo up; sleep 2; echo done")
    is_up(front)
    kill(tracers(p)[0])
    equal((front.communicate(timeout=120)[0], front.returncode), (b"done\n", 0), "run")
    outcome = [r for r in p.records() if r["type"] == "outcome"][0]
    equal((outcome["status"], outcome["degraded"], "trace" in outcome), ("ok", ["trace"], False), "record")
    r = p.json("--lang", "bash", "-c", "echo next")
    equal((r.json["status"], r.json["degraded"]), ("ok", ["trace"]), "the next")
    equal(p.verify().code, 0, "verify")


@case("where no tracer can work a policy that does not say a word about it refuses, and says what to write")
def _():
    # A kernel without BTF looks the same from here: its tracer cannot load.
    if subprocess.run(["setpriv", "--bounding-set=-bpf", "true"], check=False, capture_output=True).returncode != 0:
        raise Skip("setpriv does not know CAP_BPF, or may not drop it")
    for mode, why in ((None, "the default as root"), ("required", "the policy says so")):
        p = place(mode)
        before = set(processes("bailiff-tracer"))
        done = subprocess.run(["setpriv", "--bounding-set=-bpf,-perfmon"] + p.words("run", "--lang", "bash", "-c", "true"),
                              capture_output=True, timeout=120, stdin=subprocess.DEVNULL, check=False)

        class Answer:
            err = done.stderr
        equal(done.returncode, 125, "exit: %r" % done.stderr)
        one_line(Answer, "requires tracing (%s)" % why, "CAP_BPF", '"trace": "off"')
        wait_for(lambda: not set(processes("bailiff-tracer")) - before, "the end of tracer and canary")
        equal([n for n in os.listdir(os.path.join(p.state, "results")) if n.startswith("r_")], [], "runs")
        with open(p.policy, "w") as f:
            json.dump(open_("off"), f)
        done = subprocess.run(["setpriv", "--bounding-set=-bpf,-perfmon"] + p.words("run", "--lang", "bash", "-c", "true"),
                              capture_output=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
        equal((done.returncode, done.stderr), (0, b""), "as it says")


@case("a policy without the word traces as root: the run, its record, policy check and explain agree")
def _():
    p = place(None)
    r = p.json("--lang", "bash", "-c", "true")
    lines, _ = trace_of(p, r.json["run_id"])
    equal((outcome_of(p, r.json["run_id"])["trace"]["complete"], lines[-1]["complete"]), (True, True), "trace")
    told = json.loads(call([BAILIFF, "policy", "check", "--json", p.policy]).out)
    equal((told["trace"], told["trace_why"]), ("required", "the default as root"), "check")
    told = json.loads(call([BAILIFF, "policy", "explain", "--json", "--policy", p.policy, "--lang", "bash", "-c", "true"]).out)
    equal((told["policy"]["trace"], told["policy"]["trace_why"]), ("required", "the default as root"), "explain")
    intent = [x for x in p.records() if x["type"] == "intent"][0]
    equal(intent["policy"]["sha256"], told["policy"]["sha256"], "the policy in the record")


@case("an account that is not root is refused by name")
def _():
    p = place()
    os.chmod(p.dir, 0o777)
    fd = os.open(BAILIFF, os.O_PATH)

    def lesser():
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    done = subprocess.run([BAILIFF, "run", "--policy", p.policy, "--state", p.path("own"), "--lang", "bash", "-c",
                           "true"], capture_output=True, preexec_fn=lesser, timeout=120, stdin=subprocess.DEVNULL,
                          check=False, cwd="/", executable="/proc/self/fd/%d" % fd, pass_fds=[fd])
    os.close(fd)
    if b"Permission denied" in done.stderr and b"tracing" not in done.stderr:
        print("     not tried: another account has no way to this build")
        return
    equal(done.returncode, 125, "exit: %r" % done.stderr)
    check(b"tracing, which takes root" in done.stderr or b"degraded" in done.stderr, "said: %r" % done.stderr)


need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer", "bailiff-tracer")
if not os.path.exists("/sys/kernel/btf/vmlinux"):
    print("skipped: this kernel has no BTF (/sys/kernel/btf/vmlinux)")
    sys.exit(77)
main()
