"""Finished results reach the disk within a second, and nobody waits for it.

Run as: python3 test_sync.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import uuid

from lib import (BUILD, LIBEXEC, PATIENCE_S, Place, Skip, call, case, check,
                 equal, kill, main, need_programs, need_root, one_line,
                 parent, processes, status, wait_for)

SYNCER_UID = 1900000006


class Syncer:
    """bailiff-syncer, with us as its supervisor."""

    def __init__(self, folder, flags=os.O_RDONLY):
        self.channel, its_end = socket.socketpair(socket.AF_UNIX,
                                                  socket.SOCK_SEQPACKET)
        self.channel.settimeout(PATIENCE_S)
        folder_fd = os.open(folder, flags | os.O_DIRECTORY)

        def arrange():
            high = os.dup2(folder_fd, 300)
            os.dup2(its_end.fileno(), 3)
            os.dup2(high, 4)
            os.closerange(5, 310)
            os.setgroups([])
            os.setgid(SYNCER_UID)
            os.setuid(SYNCER_UID)

        # By descriptor, since its uid may have no way to the program.
        opened = os.open(os.path.join(LIBEXEC, "bailiff-syncer"), os.O_PATH)
        program = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 320)
        os.close(opened)
        self.process = subprocess.Popen(
            ["bailiff-syncer"], executable="/proc/self/fd/%d" % program,
            preexec_fn=arrange, close_fds=False, env={})
        os.close(program)
        os.close(folder_fd)
        its_end.close()

    def ask(self, number):
        self.channel.send(struct.pack("<HQ", 1, number))
        return self.answer()

    def answer(self):
        data = self.channel.recv(100)
        return struct.unpack("<HQI", data)[1:] if data else None


@case("it syncs, tells an error, and ends with its channel")
def _():
    p = Place()
    y = Syncer(p.dir)
    equal(y.ask(7), (7, 0), "answer")
    equal(y.ask(1 << 63), (1 << 63, 0), "answer")
    y.channel.close()
    equal(y.process.wait(PATIENCE_S), 0, "exit")
    # syncfs(2) of such a descriptor is EBADF.
    y = Syncer(p.dir, os.O_PATH)
    equal(y.ask(1), (1, 9), "answer")
    y.channel.send(b"\xff\xff")
    check(y.process.wait(PATIENCE_S) != 0, "malformed, and it went on")


@case("it holds nothing: own uid, no capabilities, filter, no dumps")
def _():
    p = Place()
    equal(p.bash("true").code, 0, "run")
    pid, = syncers(p)
    line = status(pid)
    equal(line["Uid"].split(), [str(SYNCER_UID)] * 4, "uid")
    equal(line["Groups"].split(), [], "groups")
    equal((line["Seccomp"], line["NoNewPrivs"]), ("2", "1"), "confinement")
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        equal(int(line[name], 16), 0, name)
    equal(sorted(map(int, os.listdir("/proc/%d/fd" % pid))),
          [0, 1, 2, 3, 4], "descriptors")


def syncers(place):
    owners = set(place.supervisors())
    return processes("bailiff-syncer", lambda pid: parent(pid) in owners)


class Trace:
    """strace of one process: when it called syncfs."""

    def __init__(self, place, pid):
        if shutil.which("strace") is None:
            raise Skip("no strace")
        self.path = place.path("trace.%d" % pid)
        self.process = subprocess.Popen(
            ["strace", "-qq", "-ttt", "-e", "trace=syncfs", "-o", self.path,
             "-p", str(pid)], stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        wait_for(lambda: self.process.poll() is not None or
                 status(pid).get("TracerPid", "0") != "0", "strace")
        if self.process.poll() is not None:
            raise Skip("strace: %s" % self.process.stderr.read().decode())

    def calls(self):
        """Start times of the calls that came back with 0."""
        with open(self.path) as f:
            return [float(line.split()[0]) for line in f
                    if line.rstrip().endswith("= 0")]

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE_S)


@case("a burst of runs is synced within a second or two, once a second")
def _():
    p = Place()
    equal(p.bash("true").code, 0, "first run")
    pid, = syncers(p)
    trace = Trace(p, pid)
    try:
        start = time.time()
        for _ in range(8):
            equal(p.bash("echo x > f").code, 0, "run")
        end = time.time()
        wait_for(lambda: [t for t in trace.calls() if t > end],
                 "a sync after the last run", 30)
        calls = trace.calls()
        # A sync may last, and one more may be under way at the start.
        check(len(calls) <= end - start + 3, "%d syncs" % len(calls))
        check(all(b - a > 0.9 for a, b in zip(calls, calls[1:])),
              "more often than once a second: %r" % calls)
        time.sleep(2.5)
        before = len(trace.calls())
        time.sleep(1.5)
        equal(len(trace.calls()), before, "syncs of an idle service")
    finally:
        trace.close()


@case("what a run left is on the disk itself, soon after its reply")
def _():
    p = Place()
    image = p.path("disk.img")
    with open(image, "wb") as f:
        f.truncate(96 << 20)
    made = subprocess.run(["mkfs.ext4", "-q", "-F", image], check=False,
                          stderr=subprocess.PIPE)
    disk = p.path("disk")
    os.mkdir(disk)
    # With delayed allocation and a far commit the kernel alone takes 30 s.
    done = made.returncode and made or subprocess.run(
        ["mount", "-o", "loop,commit=600", image, disk], check=False,
        stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Skip(done.stderr.decode().strip())
    os.chmod(disk, 0o700)
    p.state = os.path.join(disk, "state")
    marker = uuid.uuid4().hex
    code = "import sys; print(''.join(reversed(sys.argv[1])))"
    try:
        r = p.python(code, "--", marker)
        equal(r.out.strip().decode(), marker[::-1], "output")
        wait_for(lambda: holds(image, marker[::-1].encode()),
                 "the output on the disk", 12)
    finally:
        p.remove()
        subprocess.run(["umount", disk], check=True)


def holds(path, needle):
    with open(path, "rb") as f:
        return needle in f.read()


def refused(result, *words):
    equal((result.code, result.out), (125, b""), "%r" % result)
    one_line(result, *words)


@case("a syncer that dies stops new runs, says why, and stop heals it")
def _():
    p = Place()
    r = p.json("--lang", "bash", "-c", "echo one")
    pid, = syncers(p)
    kill(pid)
    supervisor, = p.supervisors()
    wait_for(lambda: not syncers(p), "its end")
    refused(p.bash("echo two"), "results cannot be put on disk",
            "bailiff-syncer", "stop")
    equal(p.supervisors(), [supervisor], "the service")
    equal(p.result(r.json["run_id"], "stdout").out, b"one\n", "old results")
    equal(p.stop().code, 0, "stop")
    equal(p.bash("echo three").out, b"three\n", "a new service")


@case("a disk that fails stops new runs and says why")
def _():
    p = Place()
    tree = p.path("tree")
    for name in ("bin", "libexec", "share"):
        shutil.copytree(os.path.join(BUILD, name), os.path.join(tree, name))
    shutil.copy(os.path.join(BUILD, "tests", "broken_syncer"),
                os.path.join(tree, "libexec/bailiff/bailiff-syncer"))
    for folder, _, names in os.walk(tree):
        for name in names:
            os.chown(os.path.join(folder, name), 0, 0)
    front = os.path.join(tree, "bin", "bailiff")
    words = [front] + p.words("run", "--lang", "bash", "-c", "true")[1:]
    try:
        wait_for(lambda: call(words).code == 125, "the refusal", 30)
        refused(call(words), "results cannot be put on disk", "syncfs",
                "Input/output error")
    finally:
        call([front, "stop", "--state", p.state])


@case("a stop waits for the last sync")
def _():
    p = Place()
    equal(p.bash("true").code, 0, "first run")
    pid, = syncers(p)
    supervisor, = p.supervisors()
    os.kill(pid, signal.SIGSTOP)
    try:
        equal(p.bash("echo x").out, b"x\n", "a run does not wait")
        stop = threading.Thread(target=p.stop)
        stop.start()
        time.sleep(2)
        equal(p.supervisors(), [supervisor], "the service")
    finally:
        os.kill(pid, signal.SIGCONT)
    stop.join()
    wait_for(lambda: not p.supervisors(), "the service's end", 30)
    wait_for(lambda: not os.path.exists("/proc/%d" % pid) or
             status(pid)["State"][0] == "Z", "the syncer's end", 30)


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-syncer")
    main()
