"""Without root: an embedded service of an ordinary account, end to end.

Run as: python3 test_rootless.py BUILD_DIR SOURCE_DIR [part of a name].

account.py says as whom.  No control group is delegated to it here; what there is
more with one is test_delegated.py.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess

from account import (GID, GROUP, INSTALL, POLICIES, TOP, UID, WORDS, Home,
                     become, begin, called, mine)
from lib import PATIENCE_S, case, check, cmdline, equal, main, parent, wait_for


@case("python and bash run: input, arguments, output, exit codes and signals")
def _():
    h = Home()
    r = h.python("import sys; print(sys.stdin.read().upper(), sys.argv[1:]);"
                 "sys.stderr.write('e'); sys.exit(7)", "--", "a b",
                 stdin=b"text")
    equal((r.code, r.out, r.err), (7, b"TEXT ['a b']\n", b"e"), "python")
    r = h.bash("echo one; echo two > /dev/stderr; echo $0 $HOME")
    equal((r.code, r.out, r.err), (0, b"one\n/sandbox/main.sh /sandbox\n",
                                   b"two\n"), "bash")
    equal(h.bash("kill -TERM $$").code, 128 + signal.SIGTERM, "signal")
    big = os.urandom(3 << 20)
    r = h.python("import sys, hashlib;"
                 "print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())",
                 stdin=big)
    equal(r.out.decode().strip(), hashlib.sha256(big).hexdigest(), "stdin")
    h.stop()


# Runtimes that reserve gigabytes and use little of it, and a compiler.
HELLO = {
    "c": '#include <stdio.h>\nint main(void) { puts("hello"); }',
    "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println("hello") }',
    "java": "public class Main { public static void main(String[] a) {"
            'System.out.println("hello"); } }',
    "javascript": "console.log('hello')",
}


@case("languages whose runtimes reserve much memory run, and are compiled")
def _():
    h = Home()
    tried = 0
    for language, code in HELLO.items():
        j = h.json("--lang", language, "-c", code)
        if j["failed"] and j["failed"]["step"] == "toolchain":
            continue
        equal((j["status"], j["stdout"]), ("ok", "hello\n"),
              language + ": " + j["stderr"][-300:])
        tried += 1
    h.stop()
    print("     (%d of %d languages)" % (tried, len(HELLO)))


@case("what is missing stands in the result, in the record and in the log")
def _():
    h = Home()
    j = h.json("--lang", "bash", "-c", "echo hi")
    equal(j["degraded"], WORDS, "--json")
    equal(h.outcome(j["run_id"])["degraded"], WORDS, "record")
    check(h.outcome(j["run_id"]).get("posture"), "no posture in the record")
    # What nobody counted is absent, not 0.
    for use in (j["use"], h.outcome(j["run_id"])["use"]):
        equal([k for k in use if "peak" in k], [], "use")
    with open(os.path.join(j["result_folder"], "result.json")) as f:
        check("peak" not in f.read(), "peaks in result.json")
    r = h.call("policy", "check")
    for word in WORDS:
        check(word.encode() in r.out, "policy check says nothing of " + word)
    h.stop()
    h = Home(groups=[GROUP])
    equal(h.json("--lang", "bash", "-c", "echo hi")["degraded"],
          sorted(WORDS + ["groups"]), "with a group")
    h.stop()


@case("a policy that refuses what is missing runs nothing, naming each")
def _():
    h = Home(groups=[GROUP])
    for policy in (os.path.join(POLICIES, "default.json"),
                   os.path.join(POLICIES, "strict.json"),
                   h.policy(degraded="refuse")):
        r = h.run("--policy", policy, "--lang", "bash", "-c", "echo ran")
        equal((r.code, r.out), (125, b""), policy)
        equal(r.err.count(b"\n"), 1, "lines")
        for word in WORDS + ["groups"]:
            check(word.encode() in r.err, "%s not named: %r" % (word, r))
    wait_for(lambda: not mine(), "the end of everything of ours")
    h = Home()
    r = h.run("--policy", h.policy(degraded="accept", name="own"), "--lang",
              "bash", "-c", "echo ran")
    equal((r.code, r.out), (0, b"ran\n"), "accepted")
    h.stop()


@case("wall, cpu and output limits end a run and all it has started")
def _():
    h = Home()
    j = h.json("--timeout", "1", "--lang", "bash", "-c",
               "sleep 1000 & (setsid sleep 1000 &); sleep 1000")
    equal((j["status"], j["killed_by"]), ("timeout", "wall"), "wall")
    j = h.json("--lang", "bash", "-c", "(setsid sleep 1000 &); yes")
    equal((j["status"], j["killed_by"]), ("killed", "output"), "output")
    limits = json.load(open(os.path.join(POLICIES, "user.json")))["limits"]
    limits["cpu_ms"] = {"default": 300, "max": 300}
    j = h.json("--policy", h.policy(limits=limits), "--lang", "python", "-c",
               "while True: pass")
    equal((j["status"], j["killed_by"]), ("timeout", "cpu"), "cpu")
    check(j["use"]["cpu_us"] >= 300000, "cpu time %r" % j["use"])
    left = [p for p in mine() if cmdline(p)[:1] in (["sleep"], ["yes"])]
    equal(left, [], "left over")
    h.stop()


@case("memory, processes, files and scratch are bounded, and the next run is")
def _():
    h = Home()
    r = h.python("try:\n  x = bytearray(600 << 20)\n"
                 "except MemoryError:\n  print('refused')")
    equal((r.code, r.out), (0, b"refused\n"), "memory")
    r = h.python("import os\nn = 0\ntry:\n  while n < 500:\n"
                 "    if os.fork() == 0:\n      import time; time.sleep(60)\n"
                 "    n += 1\nexcept OSError:\n  print('refused', n < 66)")
    equal((r.code, r.out), (0, b"refused True\n"), "processes")
    r = h.python("import resource\n"
                 "try:\n  [open('/dev/null') for _ in range(300)]\n"
                 "except OSError as e:\n  print(e.errno)\n"
                 "try:\n  open('/tmp/x', 'wb').write(bytes(300 << 20))\n"
                 "except OSError as e:\n  print(e.errno)\n"
                 "for l in ('RLIMIT_DATA', 'RLIMIT_CPU', 'RLIMIT_NPROC'):\n"
                 "  try:\n    resource.setrlimit(getattr(resource, l),"
                 " (1 << 40, 1 << 40)); print(l)\n"
                 "  except (OSError, ValueError):\n    pass\n")
    check(r.code == 0 and r.out.startswith(b"24\n") and
          r.out.count(b"\n") == 2, "files: %r" % r)
    equal(h.bash("echo next").out, b"next\n", "next run")
    h.stop()


def limited(**limits):
    with open(os.path.join(POLICIES, "user.json")) as f:
        found = json.load(f)["limits"]
    for name, value in limits.items():
        found[name] = {"default": value, "max": value}
    return found


@case("artifacts are kept, code and inputs are not among them")
def _():
    h = Home()
    read = os.path.join(h.dir, "read")
    os.mkdir(read)
    os.chown(read, UID, GID)
    for name, mode in (("in.txt", 0o600), ("secret", 0)):
        with open(os.path.join(read, name), "w") as f:
            f.write("input\n")
        os.chown(f.name, UID if mode else 0, GID if mode else 0)
        os.chmod(f.name, mode or 0o600)
    policy = h.policy(paths={"read": [read], "export": []})
    run = ["--json", "--policy", policy, "--lang", "bash"]
    r = h.run(*run, "--file", read + "/in.txt:in.txt", "-c",
              "cat in.txt; echo made > out.txt; ln -s /etc/passwd link;"
              "mkfifo pipe; mkdir d; echo deep > d/f; chmod 0 d/f;"
              "chmod u+w main.sh; echo '# mine' >> main.sh")
    j = json.loads(r.out)
    equal((j["status"], j["stdout"]), ("ok", "input\n"), "end: %r" % r)
    files = os.path.join(j["result_folder"], "files")
    equal(sorted(os.listdir(files)), ["out.txt"] if not os.path.isdir(
        files + "/d") else ["d", "out.txt"], "files")
    # What we put there counts against no limit.
    policy = h.policy(paths={"read": [read], "export": []},
                      limits=limited(artifacts=1))
    few = h.json("--policy", policy, "--lang", "bash", "-c", "echo > a")
    equal(h.outcome(few["run_id"])["viol"], [], "code is no artifact")
    with open(files + "/out.txt") as f:
        equal(f.read(), "made\n", "content")
    r = h.call("result", "--policy", policy, j["run_id"], "files/out.txt")
    equal(r.out, b"made\n", "result: %r" % r)
    r = h.run(*run, "--file", read + "/secret:s", "-c", "cat s")
    j = json.loads(r.out)
    equal(j["status"], "denied", "somebody else's file")
    h.stop()


@case("the log is verified with the key that is pinned in the home")
def _():
    h = Home()
    h.bash("echo one; echo two > file")
    h.stop()
    r = h.call("audit", "verify")
    check(r.code == 0 and b"VERIFIED" in r.out and b"pin: local key" in r.out,
          "verify: %r" % r)
    for here, _, names in os.walk(h.state):
        for name in names:
            st = os.lstat(os.path.join(here, name))
            check(st.st_uid == UID and st.st_mode & 0o077 == 0 or
                  "/policies" in here or st.st_mode & 0o022 == 0,
                  "%s/%s: mode %o" % (here, name, st.st_mode))
    for name in os.listdir(os.path.join(h.state, "keys")):
        equal(os.stat(os.path.join(h.state, "keys", name)).st_mode & 0o777,
              0o600, name)
    pins = os.path.join(h.dir, ".config", "bailiff")
    equal(len(os.listdir(pins)), 1, "pins")
    check(not os.path.exists("/etc/bailiff/keys.d/" + os.listdir(pins)[0]),
          "a pin outside the home")
    shutil.rmtree(pins)
    r = h.call("audit", "verify")
    check(r.code != 0 or b"local key" not in r.out, "no pin: %r" % r)


@case("after SIGKILL of any of our programs nothing of a run is left")
def _():
    for victim in ("bailiff-supervisor", "bailiff-launch", "bailiff-signer"):
        h = Home()
        p = h.bash("echo up; (setsid sleep 1000 &); sleep 1000", start=True)
        equal(p.stdout.readline(), b"up\n", victim)
        wait_for(lambda: len([x for x in mine()
                              if cmdline(x)[:1] == ["sleep"]]) == 2, "sleep")
        # Pid 1 of a run is a clone of the launcher and has its name.
        (pid,) = [x for x in called(victim) if parent(x) not in called(victim)]
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not any(cmdline(x)[:1] == ["sleep"]
                                 for x in mine()), victim)
        p.communicate(timeout=PATIENCE_S)
        check(p.returncode != 0, "the client saw nothing")
        equal(h.bash("echo again").out, b"again\n", "after " + victim)
        h.stop()
        check(h.call("audit", "verify").code == 0, "verify: " + victim)


class Replaced:
    """A helper that never answers in the place of ours."""

    def __init__(self, name):
        self.path = os.path.join(INSTALL, "libexec", "bailiff", name)

    def __enter__(self):
        os.rename(self.path, self.path + ".real")
        shutil.copy("/usr/bin/yes", self.path)

    def __exit__(self, *_):
        os.rename(self.path + ".real", self.path)


def last(h, kind):
    return [r["predicate"] for r in h.records()
            if r["predicate"]["type"] == kind][-1]


@case("after SIGKILL of opener, collector or syncer the record says so")
def _():
    h = Home()
    read = os.path.join(h.dir, "read")
    os.mkdir(read)
    with open(read + "/f", "w") as f:
        f.write("input\n")
    policy = h.policy(paths={"read": [read], "export": []})
    run = ["--policy", policy, "--lang", "bash"]
    with_file = run + ["--file", read + "/f:f", "-c", "cat f"]
    equal(h.run(*with_file).out, b"input\n", "as it should be")
    with Replaced("bailiff-opener"):
        p = h.run(*with_file, start=True)
        (pid,) = wait_for(lambda: called("bailiff-opener"), "the opener")
        os.kill(pid, signal.SIGKILL)
        out, err = p.communicate(timeout=PATIENCE_S)
    equal((p.returncode, out), (126, b""), "opener: %r" % err)
    equal(last(h, "denial")["reasons"], ["path.failed"], "record")
    equal(h.run(*with_file).out, b"input\n", "after the opener")
    with Replaced("bailiff-opener"):
        p = h.run(*with_file, start=True)
        (pid,) = wait_for(lambda: called("bailiff-opener"), "the opener")
        os.kill(pid, signal.SIGSTOP)
        p.send_signal(signal.SIGKILL)
        p.communicate(timeout=PATIENCE_S)
        wait_for(lambda: not called("bailiff-opener"), "a stopped one's end")
    with Replaced("bailiff-collect"):
        p = h.run(*run, "-c", "echo made > file", start=True)
        (pid,) = wait_for(lambda: called("bailiff-collect"), "the collector")
        os.kill(pid, signal.SIGKILL)
        out, err = p.communicate(timeout=PATIENCE_S)
    equal(p.returncode, 125, "collector: %r" % err)
    end = last(h, "outcome")
    equal((end["status"], end["phase"], end["failed"]["step"]),
          ("error", "collect", "collect"), "record")
    p = h.run(*run, "-c", "echo up; read x; echo end", start=True)
    equal(p.stdout.readline(), b"up\n", "in mid-run")
    (pid,) = called("bailiff-syncer")
    os.kill(pid, signal.SIGKILL)
    p.communicate(timeout=PATIENCE_S)
    equal(last(h, "outcome")["status"], "ok", "the run of that time")
    r = h.run(*run, "-c", "echo on")
    check(r.code == 125 and b"bailiff-syncer has ended" in r.err, repr(r))
    h.stop()
    equal(h.run(*run, "-c", "echo on").out, b"on\n", "the next service")
    h.stop()
    equal(h.call("audit", "verify").code, 0, "verify")


PROBES = r"""
import ctypes, errno, os, signal, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    r = getattr(libc, name)(*args)
    print(name, 'done' if r >= 0 else errno.errorcode[ctypes.get_errno()])
def tried(name, f):
    try:
        f(); print(name, 'done')
    except OSError as e:
        print(name, errno.errorcode[e.errno])
call('unshare', 0x10000000)
call('unshare', 0x20000)
call('mount', b'none', b'/tmp', b'tmpfs', 0, None)
call('umount2', b'/usr', 2)
call('umount2', b'/dev/null', 2)
call('mount', None, b'/usr', None, 32 | 4096, None)
call('chroot', b'/tmp')
call('ptrace', 16, 1, 0, 0)
call('setns', 0, 0)
call('setuid', 0)
call('setgroups', 0, None)
call('setresuid', 1001, 1001, 1001)
call('sethostname', b'x', 1)
tried('kill_all', lambda: os.kill(1, signal.SIGKILL))
tried('kill_supervisor', lambda: os.kill(int(sys.argv[1]), signal.SIGKILL))
tried('environ', lambda: open('/proc/1/environ').read())
tried('mem', lambda: open('/proc/1/mem', 'rb'))
tried('sysctl', lambda: open('/proc/sys/kernel/core_pattern'))
tried('keys', lambda: open(sys.argv[2] + '/keys/log.key'))
tried('home', lambda: os.stat(sys.argv[2]))
tried('write_usr', lambda: open('/usr/x', 'w'))
tried('write_root', lambda: open('/x', 'w'))
tried('write_dev', lambda: open('/dev/x', 'w'))
tried('chmod_dev', lambda: os.chmod('/dev/null', 0o600))
tried('mknod', lambda: os.mknod('/tmp/n', 0o20666, os.makedev(1, 1)))
tried('raw', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
tried('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
tried('sentinel', lambda: open('/.sentinel'))
tried('setuid_bit', lambda: os.execv('/usr/bin/su', ['su', '-c', 'true']))
"""
# Each attempt, and what may come of it.
REFUSED = {"EPERM", "EACCES", "ENOENT", "EROFS", "ENOSYS", "EINVAL", "ESRCH"}


@case("attempts to get out, up or at our own processes are refused")
def _():
    h = Home()
    secret = os.path.join(h.dir, "secret")
    h.bash("true")
    (supervisor,) = called("bailiff-supervisor")
    r = h.python(PROBES, "--", str(supervisor), h.state)
    got = dict(line.split(" ", 1) for line in r.out.decode().splitlines())
    check(len(got) > 20, "probes: %r" % r)
    wrong = {k: v for k, v in got.items() if v not in REFUSED}
    # Without Landlock ABI 6 the kernel takes a signal for pid 1 of the own
    # namespace and drops it; that all other lines came shows it.
    if wrong.get("kill_all") == "done":
        del wrong["kill_all"]
    # A set-uid program runs, without what its bit would give.
    wrong.pop("setuid_bit", None)
    equal(wrong, {}, "not refused")
    equal(called("bailiff-supervisor"), [supervisor], "supervisor")
    check(not os.path.exists(secret), "written outside")
    r = h.bash("cat /proc/self/status; ls /proc; cat /proc/self/mountinfo")
    text = r.out.decode()
    for row in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
                "NoNewPrivs:\t1", "Seccomp:\t2"):
        check(row in text, row + " is missing")
    check(re.search(r"^1$", text, re.M) is None, "pid 1 can be seen")
    equal(len(re.findall(r" / /proc .* - proc ", text)), 1, "procs")
    check(TOP not in text and "/home" not in text, "host paths show")
    h.stop()


@case("two runs at once neither see nor disturb each other")
def _():
    h = Home()
    runs = [h.bash("echo %d; echo %d > f; sleep 0.5; cat f; ls /proc | "
                   "grep -c '^[0-9]'; [ $(ls /tmp | wc -l) = 0 ] && echo "
                   "alone" % (i, i), start=True) for i in range(4)]
    for i, p in enumerate(runs):
        out, err = p.communicate(timeout=PATIENCE_S)
        check(out.startswith(b"%d\n%d\n" % (i, i)) and
              out.endswith(b"alone\n"),
              "run %d: %r %r, exit %d" % (i, out, err, p.returncode))
    h.stop()


@case("another account can neither use nor read the service's state")
def _():
    h = Home()
    h.bash("echo mine")
    for path in (h.state, os.path.join(h.state, "run"),
                 os.path.join(h.state, "keys")):
        equal(os.stat(path).st_mode & 0o777, 0o700, path)
    h.stop()


@case("without a home to pin the key in, a new log is refused in one line")
def _():
    h = Home()
    state = os.path.join(h.dir, "state")
    r = subprocess.run(
        [os.path.join(INSTALL, "bin", "bailiff"), "run", "--state", state,
         "--lang", "bash", "-c", "echo ran"], capture_output=True, cwd="/",
        stdin=subprocess.DEVNULL, env={}, preexec_fn=become(), check=False)
    equal((r.returncode, r.stdout), (125, b""), "end")
    check(b"HOME" in r.stderr and r.stderr.count(b"\n") == 1,
          "error: %r" % r.stderr)
    wait_for(lambda: not mine(), "the end of everything of ours")


begin()
main()
