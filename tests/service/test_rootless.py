"""Without root: an embedded service of an ordinary account, end to end.

Run as: python3 test_rootless.py BUILD_DIR SOURCE_DIR [part of a name].

The test is root and acts as a uid that no account has, with a home of its own
and a copy of the programs that it can reach; it changes no setting of the
host.  Where the kernel gives that uid no user namespace, it is skipped.
"""
import atexit
import ctypes
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import (BUILD, PATIENCE_S, Result, case, check, cmdline, equal, main,
                 need_root, parent, wait_for)

UID, GID, GROUP = 1900070001, 1900070002, 1900070003
WORDS = ["cgroup.cpu", "cgroup.memory", "cgroup.pids", "service_ids",
         "uid_separation"]
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x20000

need_root()
TOP = tempfile.mkdtemp(prefix="bailiff-rootless-")
INSTALL = os.path.join(TOP, "install")
POLICIES = os.path.join(INSTALL, "share", "bailiff", "policies")
homes = []


def become(groups=()):
    """Let go of root for good: ids, groups and with them capabilities."""
    def change():
        os.setgroups(list(groups))
        os.setresgid(GID, GID, GID)
        os.setresuid(UID, UID, UID)
        os.umask(0o22)
    return change


def install():
    os.chmod(TOP, 0o755)
    for part in ("bin", "libexec", "share"):
        shutil.copytree(os.path.join(BUILD, part), os.path.join(INSTALL, part))
    for here, folders, files in os.walk(INSTALL):
        for name in folders + files:
            path = os.path.join(here, name)
            mode = os.stat(path).st_mode
            os.chmod(path, 0o755 if mode & 0o100 else 0o644)
    os.chmod(INSTALL, 0o755)


def mine():
    """Every process of our uid."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.stat("/proc/" + name).st_uid in (UID, 0):
                with open("/proc/%s/status" % name) as f:
                    text = f.read()
                if re.search(r"^Uid:\t%d\t" % UID, text, re.M) and \
                        "State:\tZ" not in text:
                    found.append(int(name))
        except OSError:
            pass
    return found


def called(program):
    def name(pid):
        return os.path.basename((cmdline(pid) or [""])[0])

    return [pid for pid in mine() if name(pid) == program]


def put_away():
    for pid in mine():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    shutil.rmtree(TOP, ignore_errors=True)


atexit.register(put_away)


class Home:
    """One account's home directory."""

    def __init__(self, groups=()):
        for pid in mine():  # what a case that failed has left
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not mine(), "a clean start")
        self.dir = tempfile.mkdtemp(prefix="home-", dir=TOP)
        os.chown(self.dir, UID, GID)
        self.groups = groups
        self.state = os.path.join(self.dir, ".local", "state", "bailiff")

    def call(self, *words, stdin=b"", start=False):
        how = dict(preexec_fn=become(self.groups), cwd="/", env={
            "HOME": self.dir, "PATH": "/usr/bin:/bin"})
        words = [os.path.join(INSTALL, "bin", "bailiff"), *words]
        if start:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, **how)
        begin = time.monotonic()
        r = subprocess.run(words, input=stdin, capture_output=True,
                           timeout=PATIENCE_S, check=False, **how)
        return Result(r.returncode, r.stdout, r.stderr,
                      time.monotonic() - begin)

    def run(self, *words, **more):
        return self.call("run", *words, **more)

    def python(self, code, *words, **more):
        return self.run("--lang", "python", "-c", code, *words, **more)

    def bash(self, code, *words, **more):
        return self.run("--lang", "bash", "-c", code, *words, **more)

    def json(self, *words, **more):
        r = self.run("--json", *words, **more)
        try:
            return json.loads(r.out)
        except ValueError:
            raise AssertionError("no JSON: %r" % r) from None

    def policy(self, **over):
        with open(os.path.join(POLICIES, "user.json")) as f:
            policy = json.load(f)
        policy.update(over)
        path = os.path.join(self.dir, "policy.json")
        with open(path, "w") as f:
            json.dump(policy, f)
        os.chown(path, UID, GID)
        os.chmod(path, 0o644)
        return path

    def records(self):
        found = []
        log = os.path.join(self.state, "audit", "log")
        for name in sorted(os.listdir(log)):
            with open(os.path.join(log, name), "rb") as f:
                found += [json.loads(line)["stmt"] for line in f]
        return found

    def outcome(self, run_id):
        for stmt in self.records():
            p = stmt["predicate"]
            if p.get("req") == run_id and p["type"] == "outcome":
                return p
        raise AssertionError("no outcome of %s" % run_id)

    def stop(self):
        self.call("stop")
        # Services of other policies than the default one.
        for pid in called("bailiff-supervisor"):
            os.kill(pid, signal.SIGTERM)
        wait_for(lambda: not mine(), "the end of everything of ours")


def no_namespaces():
    """Why the kernel gives our uid no user namespace, or None."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        become()()
        libc = ctypes.CDLL(None, use_errno=True)
        code = libc.unshare(CLONE_NEWUSER | CLONE_NEWNS)
        os.write(write, os.strerror(ctypes.get_errno()).encode()
                 if code < 0 else b"")
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read) as f:
        return f.read() or None


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


@case("what is missing stands in the result, in the record and in the log")
def _():
    h = Home()
    j = h.json("--lang", "bash", "-c", "echo hi")
    equal(j["degraded"], WORDS, "--json")
    equal(h.outcome(j["run_id"])["degraded"], WORDS, "record")
    check(h.outcome(j["run_id"]).get("posture"), "no posture in the record")
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
                 "for l in ('RLIMIT_AS', 'RLIMIT_CPU', 'RLIMIT_NPROC'):\n"
                 "  try:\n    resource.setrlimit(getattr(resource, l),"
                 " (1 << 40, 1 << 40)); print(l)\n"
                 "  except (OSError, ValueError):\n    pass\n")
    check(r.code == 0 and r.out.startswith(b"24\n") and
          r.out.count(b"\n") == 2, "files: %r" % r)
    equal(h.bash("echo next").out, b"next\n", "next run")
    h.stop()


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
    with open(files + "/out.txt") as f:
        equal(f.read(), "made\n", "content")
    r = h.call("result", "--policy", policy, j["run_id"], "files/out.txt")
    equal(r.out, b"made\n", "result: %r" % r)
    r = h.run(*run, "--file", read + "/secret:s", "-c", "cat s")
    j = json.loads(r.out)
    equal(j["status"], "denied", "somebody else's file")
    r = h.run("--policy", policy, "--lang", "bash", "--dir", read + ":d",
              "-c", "echo ran")
    equal((r.code, r.out), (125, b""), "a directory")
    check(b"--dir" in r.err or b"scratch" in r.err, "directory: %r" % r)
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
              out.endswith(b"alone\n"), "run %d: %r %r" % (i, out, err))
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


REASON = no_namespaces()
if REASON:
    print("skipped: no user namespace for an ordinary account: " + REASON)
    sys.exit(77)
install()
if mine():
    print("skipped: uid %d is in use" % UID)
    sys.exit(77)
main()
