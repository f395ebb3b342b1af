"""The front against services that misbehave, and what a service inherits.

A fake supervisor stands where the real one would, in a tree of its own that
holds a copy of the real `bailiff`.  Needs no root.

Run as: python3 test_front.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from lib import (BAILIFF, PATIENCE_S, SOURCE, call, case, check, equal, kill,
                 main, one_line, run_directory, wait_for)

PYTHON = "/usr/bin/python3"
LEAF = b"\xab" * 32
RUN = b"r_" + b"0" * 32


def u16(value):
    return struct.pack("<H", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return u16(len(value)) + value


def words(*values):
    return u32(len(values)) + b"".join(text(v) for v in values)


def welcome():
    return (u16(1) + u32(1) + text("0" * 32) + text("test")).hex()


def stale():
    return u16(2).hex()


def failed(request, kind, why):
    return (u16(3) + u64(request) + u32(kind) + text(why)).hex()


def decided(allow=1, reasons=()):
    return (u16(4) + u64(1) + text(RUN) + u32(allow) +
            words("language.bash") + words(*reasons) + u64(7) + LEAF +
            text("/log")).hex()


def output(data, stream=1):
    return (u16(5) + u64(1) + u32(stream) + u32(len(data)) + data).hex()


def finished(status="ok", killed_by="", kind=1, value=0, step="", number=0,
             remedy="", phase="run"):
    stream = u64(0) + u64(0) + LEAF
    return (u16(6) + u64(1) + text(RUN) + text(status) + text(phase) +
            text(killed_by) + u32(kind) + u32(value) + text(step) +
            u32(number) + text(remedy) + stream * 2 + u64(0) * 2 +
            u64(1) * 4 + u32(0) + words() + u64(8) + LEAF +
            text("") + u64(0)).hex()


class Tree:
    """A build tree with the real front and the fake supervisor."""

    def __init__(self, sessions, first="ready\n"):
        self.dir = tempfile.mkdtemp(prefix="bailiff-front-")
        self.libexec = os.path.join(self.dir, "libexec", "bailiff")
        self.state = os.path.join(self.dir, "state")
        os.makedirs(self.libexec)
        os.makedirs(os.path.join(self.dir, "bin"))
        self.front = os.path.join(self.dir, "bin", "bailiff")
        shutil.copy(BAILIFF, self.front)
        fake = os.path.join(self.libexec, "bailiff-supervisor")
        shutil.copy(os.path.join(SOURCE, "tests/service/fake_supervisor.py"),
                    fake)
        os.chmod(fake, 0o755)
        self.policy = os.path.join(self.dir, "policy.json")
        with open(self.policy, "w") as f:
            f.write("{}")
        with open(os.path.join(self.libexec, "script.json"), "w") as f:
            json.dump({"first": first, "sessions": sessions}, f)

    def words(self, *args):
        return [self.front, "run", "--policy", self.policy, "--state",
                self.state, "--lang", "bash", "-c", "true"] + list(args)

    def run(self, *args, **more):
        return call(self.words(*args), **more)

    def starts(self):
        try:
            with open(os.path.join(self.libexec, "starts")) as f:
                return [json.loads(line) for line in f]
        except FileNotFoundError:
            return []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for start in self.starts():
            try:
                with open("/proc/%d/cmdline" % start["pid"], "rb") as f:
                    ours = self.dir.encode() in f.read()
            except OSError:
                continue
            if ours:
                kill(start["pid"])
        if os.path.isdir(self.state):
            if os.geteuid() == 0:
                shutil.rmtree(run_directory(self.state), ignore_errors=True)
        shutil.rmtree(self.dir)


GOOD = [welcome(), "READ", decided(), output(b"hi\n"), finished()]


def good():
    return ["READ"] + GOOD


@case("a service is started once and greeted")
def _():
    with Tree([good()]) as t:
        r = t.run()
        equal((r.code, r.out, r.err), (0, b"hi\n", b""), "end")
        equal(len(t.starts()), 1, "starts")


@case("a started service inherits nothing")
def _():
    with Tree([good()]) as t:
        secret = os.open(t.policy, os.O_RDONLY)
        os.set_inheritable(secret, True)
        r = subprocess.run(
            ["/usr/bin/nohup"] + t.words(), cwd=t.dir, pass_fds=[secret],
            env={"SECRET": "x"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=PATIENCE_S,
            preexec_fn=lambda: signal.pthread_sigmask(
                signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD}))
        os.close(secret)
        equal(r.returncode, 0, "exit")
        start = t.starts()[0]
        equal(start["args"], ["--policy", t.policy, "--state", t.state],
              "arguments")
        equal((start["env"], start["cwd"], start["umask"]), ("", "/", 0o77),
              "environment, directory, umask")
        check(start["sid"] not in (os.getsid(0), start["pid"]),
              "session %r" % start)
        equal(start["pgid"], start["sid"], "process group")
        fds = start["fds"]
        equal([fds.get(n) for n in "012"], ["/dev/null"] * 3, "stdio")
        check(fds["3"].startswith("pipe:"), "ready pipe")
        # Python itself holds the script open; nothing else may be there.
        rest = [v for k, v in fds.items() if k not in "0123"]
        check(all(v.startswith(("/proc/", t.libexec)) for v in rest),
              "descriptors %r" % fds)
        equal(int(start["blocked"], 16), 0, "blocked signals")
        # Python ignores SIGPIPE (13) and SIGXFSZ (25) for itself.
        equal(int(start["ignored"], 16) & ~(1 << 12 | 1 << 24), 0,
              "ignored signals")


@case("the service's reason not to start is the command's one line")
def _():
    with Tree([], "error: policy.json:1:1: broken on purpose\n") as t:
        r = t.run()
        equal((r.code, r.out), (125, b""), "end")
        one_line(r, "policy.json:1:1: broken on purpose")


@case("a service that ends without a word is an error")
def _():
    for first in (None, "", "nonsense\n", "ready"):
        with Tree([], first) as t:
            r = t.run()
            equal(r.code, 125, repr(first))
            one_line(r, "before it was ready")


@case("a missing supervisor is named")
def _():
    with Tree([]) as t:
        os.unlink(os.path.join(t.libexec, "bailiff-supervisor"))
        r = t.run()
        equal(r.code, 125, "exit")
        one_line(r, "bailiff-supervisor")


@case("a lock that stays taken is an error after ten seconds")
def _():
    with Tree([], "taken\n") as t:
        r = t.run()
        equal(r.code, 125, "exit")
        one_line(r, "another service holds the lock")
        check(9 < r.seconds < 60, "took %.1f s" % r.seconds)


@case("an end of file before HELLO's answer is retried once")
def _():
    with Tree([["READ", "EOF"], good()]) as t:
        equal(t.run().out, b"hi\n", "second try")
    with Tree([["READ", "EOF"], ["READ", "EOF"], good()]) as t:
        r = t.run()
        equal((r.code, r.out), (125, b""), "third try")
        one_line(r, "leaves before it answers")


@case("STALE starts a successor once")
def _():
    with Tree([["READ", stale(), "RESTART"], good()]) as t:
        r = t.run()
        equal((r.code, r.out), (0, b"hi\n"), "end")
        equal(len(t.starts()), 2, "starts")
    with Tree([["READ", stale(), "RESTART"], ["READ", stale(), "RESTART"],
               good()]) as t:
        r = t.run()
        equal((r.code, r.out), (125, b""), "stale twice")
        one_line(r, "changes while the service starts")


@case("HELLO refused is an error with the service's text, escaped")
def _():
    with Tree([["READ", failed(0, 4, "not \x1b[31mfor you")]]) as t:
        r = t.run()
        equal(r.code, 125, "exit")
        one_line(r, "not \\x1b[31mfor you")


@case("malformed answers are errors, not crashes")
def _():
    for reply in ("00", "ffff", welcome()[:-2], welcome() + "00",
                  finished(), u16(5).hex() + "00" * 20000):
        with Tree([["READ", reply]]) as t:
            r = t.run()
            equal(r.code, 125, reply[:20])
            one_line(r)
    for reply in (welcome(), stale(), decided()[:-2],
                  (u16(5) + u64(1) + u32(1) + u32(40000) +
                   b"x" * 40000).hex()):
        with Tree([["READ", welcome(), "READ", reply]]) as t:
            r = t.run()
            equal(r.code, 125, "in a run: " + reply[:20])
            one_line(r)


@case("a service that dies in mid-run is an error that names the log's word")
def _():
    with Tree([["READ", welcome(), "READ", decided(), "EOF"]]) as t:
        r = t.run()
        equal(r.code, 125, "exit")
        one_line(r, "service ended", "aborted")
    with Tree([["READ", welcome(), "READ", decided(), "EOF"]]) as t:
        j = json.loads(t.run("--json").out)
        equal((j["status"], j["intent"]["seq"], j["audit"]),
              ("error", 7, None), "json")
        check("aborted" in j["error"], "error")


# status, killed_by, exit kind, exit value -> our exit code
ENDS = [
    (("ok", "", 1, 0), 0),
    (("error", "", 1, 3), 3),
    (("error", "", 1, 124), 124),
    (("error", "", 2, 15), 143),
    (("timeout", "wall", 2, 9), 124),
    (("timeout", "cpu", 2, 9), 124),
    (("memory", "memory", 2, 9), 137),
    (("killed", "syscall", 2, 31), 159),
    (("killed", "output", 2, 9), 137),
    (("killed", "supervisor", 0, 0), 137),
    (("cancelled", "client", 2, 9), 143),
]


@case("every end has its exit code")
def _():
    for end, code in ENDS:
        with Tree([["READ", welcome(), "READ", decided(),
                    finished(*end)]]) as t:
            r = t.run()
            equal(r.code, code, "exit of %r" % (end,))
            if end[0] not in ("ok", "error"):
                one_line(r, end[1], RUN.decode(), "record 8")
            else:
                equal(r.err, b"", "silence of %r" % (end,))


@case("a failed step is one line: phase, step, errno, remedy; exit 125")
def _():
    with Tree([["READ", welcome(), "READ", decided(),
                finished("error", "", 0, 0, "cgroup", 13, "mount it",
                         "setup")]]) as t:
        r = t.run()
        equal(r.code, 125, "exit")
        one_line(r, "setup", "cgroup", "Permission denied", "mount it",
                 "record 8")


@case("a denial lists every reason, escaped")
def _():
    with Tree([["READ", welcome(), "READ",
                decided(0, ["path.traversal", "x\x1b]y"])]]) as t:
        r = t.run()
        equal((r.code, r.out), (126, b""), "end")
        one_line(r, "denied: path.traversal, x\\x1b]y", "record 7")


@case("a busy service's FAILED is one line, exit 125")
def _():
    with Tree([["READ", welcome(), "READ", failed(1, 5, "busy")]]) as t:
        r = t.run()
        equal(r.code, 125, "exit")
        one_line(r, "busy")


@case("the second Ctrl-C leaves at once")
def _():
    with Tree([["READ", welcome(), "READ", decided(), output(b"up"),
                "SLEEP"]]) as t:
        started = subprocess.Popen(t.words(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        equal(os.read(started.stdout.fileno(), 2), b"up", "output")
        started.send_signal(signal.SIGINT)
        time.sleep(0.2)
        equal(started.poll(), None, "after the first")
        started.send_signal(signal.SIGINT)
        equal(started.wait(PATIENCE_S), 130, "exit")


@case("x=$(bailiff run) returns while the service stays")
def _():
    with Tree([good(), good()]) as t:
        line = " ".join("'%s'" % w for w in t.words())
        r = call(["/bin/bash", "-c", 'x=$(%s 2>&1); echo "<$x>"' % line])
        equal(r.out, b"<hi>\n", "end")
        pid = t.starts()[0]["pid"]
        os.kill(pid, 0)
        equal(t.run().out, b"hi\n", "the same service")
        equal(len(t.starts()), 1, "starts")


@case("commands without a service exit as they should")
def _():
    equal(call([BAILIFF]).code, 2, "no command")
    equal(call([BAILIFF, "--version"]).code, 0, "version")
    check(call([BAILIFF, "--version"]).out.startswith(b"bailiff "), "version")
    for name in ("run", "result", "stop"):
        r = call([BAILIFF, name, "--help"])
        check(r.code == 0 and r.out.startswith(
            b"usage: bailiff " + name.encode()), name)
        equal(call([BAILIFF, "help", name]).out, r.out, "help " + name)
        r = call([BAILIFF, name, "--polciy", "x"])
        equal(r.code, 2, name)
        one_line(r, "--polciy", "--policy")
    for name in ("doctor", "selftest"):
        r = call([BAILIFF, name])
        equal(r.code, 2, name)
        one_line(r, name, "not built")
    r = call([BAILIFF, "rnu"])
    equal(r.code, 2, "rnu")
    one_line(r, "did you mean run?")


@case("closed standard descriptors never become our socket")
def _():
    for closed in (">&-", "<&-", "2>&-", "<&- >&- 2>&-"):
        with Tree([good()]) as t:
            line = " ".join("'%s'" % w for w in t.words())
            r = call(["/bin/bash", "-c", "%s %s; echo $? >/dev/stdout 3>&1"
                      % (line, closed)])
            want = b"hi\n0\n" if ">&-" not in closed or closed == "2>&-" \
                else b"125\n"
            equal(r.out, want, closed)


if __name__ == "__main__":
    main()
