"""An ordinary account and its home, for tests of services without root.

The test is root and acts as a uid that no account and no other test has, with
a home of its own and a copy of the programs that it can reach; it changes no
setting of the host.  Where the kernel gives that uid no user namespace, the test is skipped.
"""
import atexit
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import BUILD, PATIENCE_S, Result, cmdline, kill, need_root, wait_for

# Of this process alone: tests of several checkouts may run at once.
UID = 1900100000 + 4 * os.getpid()
GID, GROUP = UID + 1, UID + 2
ALWAYS = ["service_ids", "uid_separation"]
WORDS = ["cgroup.cpu", "cgroup.memory", "cgroup.pids"] + ALWAYS
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x20000

need_root()
TOP = tempfile.mkdtemp(prefix="bailiff-rootless-")
atexit.register(shutil.rmtree, TOP, ignore_errors=True)
INSTALL = os.path.join(TOP, "install")
POLICIES = os.path.join(INSTALL, "share", "bailiff", "policies")


def become(groups=(), enter=()):
    """Let go of root for good: ids, groups and with them capabilities; after
    entering these control groups."""
    def change():
        for group in enter:
            with open(os.path.join(group, "cgroup.procs"), "w") as f:
                f.write("0")
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
        kill(pid)


class Home:
    """One account's home directory."""

    def __init__(self, groups=(), enter=()):
        for pid in mine():  # what a case that failed has left
            kill(pid)
        wait_for(lambda: not mine(), "a clean start")
        self.dir = tempfile.mkdtemp(prefix="home-", dir=TOP)
        os.chown(self.dir, UID, GID)
        self.enter = list(enter)
        self.become = become(groups, enter)
        self.state = os.path.join(self.dir, ".local", "state", "bailiff")

    def call(self, *words, stdin=b"", start=False):
        how = dict(preexec_fn=self.become, cwd="/", env={
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
            kill(pid, signal.SIGTERM)
        wait_for(lambda: not called("bailiff-supervisor"), "services' end")
        # It would wait for a successor.
        for pid in called("bailiff-signer"):
            kill(pid, signal.SIGTERM)
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


def begin():
    """Skip where there is no such account; else make what Home needs."""
    reason = no_namespaces()
    if reason:
        print("skipped: no user namespace for an ordinary account: " + reason)
        sys.exit(77)
    if mine():
        print("skipped: uid %d is in use" % UID)
        sys.exit(77)
    atexit.register(put_away)
    install()
