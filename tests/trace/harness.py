"""What the tests of bailiff-tracer share: they play the supervisor.

Touches only control groups, files and processes that it makes.
"""
import array
import gzip
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

BUILD, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TRACER = os.path.join(BUILD, "libexec/bailiff/bailiff-tracer")
TRACED = os.path.join(BUILD, "tests/traced")
RUN = "r_" + "0123456789abcdef" * 2
WATCH, FINISH = 1, 2
READY, WATCHING, FINISHED, FAILED = 1, 2, 3, 4


def text(value):
    return struct.pack("<H", len(value)) + value.encode()


def hierarchy():
    """The v2 hierarchy, where tracing finds its runs."""
    with open("/proc/self/mounts") as f:
        for line in f:
            words = line.split()
            if words[2] == "cgroup2":
                return words[1]
    print("skipped: no cgroup v2 hierarchy is mounted")
    sys.exit(77)


class Lost(Exception):
    """The tracer is gone."""


class Tracer:
    def __init__(self, slots=4, ring=1 << 20):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def place():
            os.dup2(theirs.fileno(), 3)
        self.process = subprocess.Popen([TRACER, str(slots), str(ring)], preexec_fn=place, pass_fds=[3], env={})
        theirs.close()
        self.socket.settimeout(60)
        self.ready = self.hear()
        self.last = 0

    def hear(self):
        data = self.socket.recv(1 << 17)
        if not data:
            raise Lost()
        verb, rest = struct.unpack_from("<H", data)[0], data[2:]
        if verb == READY:
            return verb, struct.unpack("<Q", rest)[0]
        if verb == WATCHING:
            return verb, struct.unpack("<Q", rest)[0]
        if verb == FAILED:
            run, number, length = struct.unpack_from("<QIH", rest)
            return verb, run, number, rest[14:14 + length].decode()
        run, complete, events, size = struct.unpack_from("<QIQQ", rest)
        digest = rest[28:60]
        lost, length = struct.unpack_from("<QH", rest, 60)
        stored = struct.unpack_from("<Q", rest, 70 + length)[0]
        return verb, dict(run=run, complete=complete, events=events, bytes=size, sha256=digest.hex(), lost=lost,
                          note=rest[70:70 + length].decode(), stored_bytes=stored,
                          stored_sha256=rest[78 + length:110 + length].hex())

    def say(self, data, *fds):
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([data], ancillary)

    def watch(self, group, fd, name=RUN, packed=0):
        self.last += 1
        self.say(struct.pack("<HQQ", WATCH, self.last, group) + text(name) + struct.pack("<I", packed), fd)
        return self.last, self.hear()

    def finish(self, run, undead=0):
        self.say(struct.pack("<HQI", FINISH, run, undead))
        return self.hear()

    def close(self):
        self.socket.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Group:
    """A control group of the test's own."""
    number = 0

    def __init__(self):
        Group.number += 1
        self.path = "%s/bailiff-test-trace-%d-%d" % (hierarchy(), os.getpid(), Group.number)
        os.mkdir(self.path)
        self.id = os.stat(self.path).st_ino

    def empty(self):
        with open(self.path + "/cgroup.events") as f:
            return "populated 0" in f.read()

    def wait_empty(self, seconds=30):
        end = time.monotonic() + seconds
        while not self.empty():
            if time.monotonic() > end:
                raise AssertionError("the group does not empty")
            time.sleep(0.005)

    def kill(self):
        with open(self.path + "/cgroup.kill", "w") as f:
            f.write("1")

    def close(self):
        if not self.empty():
            self.kill()
            self.wait_empty()
        end = time.monotonic() + 10
        while True:
            try:
                return os.rmdir(self.path)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)


class Trace:
    """What one run left: its answer, its lines."""

    def __init__(self, answer, lines, code):
        self.verb, self.answer, self.lines, self.code = answer[0], answer[1], lines, code
        self.header, self.books = lines[0], lines[-1]
        self.events = lines[1:-1]

    def of(self, kind, **want):
        return [e for e in self.events if e["type"] == kind and all(e.get(k) == v for k, v in want.items())]

    def calls(self, name, plane="program"):
        for c in self.books["calls"]:
            if c.get("call") == name and c["plane"] == plane:
                return c
        return dict(enter=0, ok=0, error=0, denied=0)

    def errors(self, name):
        return {e["error"]: e["n"] for e in self.books["errors"]
                if e.get("call") == name and e["plane"] == "program"}


def start(group, action):
    child = subprocess.Popen([TRACED, group.path, action], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    if child.stdout.readline() != b"ready\n":
        raise AssertionError("traced %s did not start: %s" % (action, child.wait()))
    return child


def check_form(raw):
    """Valid JSON lines, keys once, integers, no space."""
    def pairs(items):
        keys = [k for k, _ in items]
        if len(keys) != len(set(keys)):
            raise AssertionError("a key twice: %s" % keys)
        return dict(items)

    def no_float(value):
        raise AssertionError("a float: " + value)
    if not raw.endswith(b"\n"):
        raise AssertionError("the last line is not whole")
    lines = []
    for line in raw.decode("utf-8").split("\n")[:-1]:
        value = json.loads(line, object_pairs_hook=pairs, parse_float=no_float)
        if json.dumps(value, separators=(",", ":"), ensure_ascii=False) != line and "\\" not in line:
            raise AssertionError("not canonical: " + line)
        if any(ord(c) < 32 or ord(c) == 127 for c in line):
            raise AssertionError("a control character: %r" % line)
        lines.append(value)
    return lines


def read_back(answer, file):
    import hashlib
    file.seek(0)
    stored = file.read()
    if answer[0] != FINISHED:
        raise AssertionError("FINISH was answered by %r" % (answer,))
    told = answer[1]
    if hashlib.sha256(stored).hexdigest() != told["stored_sha256"] or len(stored) != told["stored_bytes"]:
        raise AssertionError("the digest is of another file")
    # By another's reader than the one that bailiff audit has.
    raw = gzip.decompress(stored) if stored.startswith(b"\x1f\x8b") else stored
    lines = check_form(raw)
    if hashlib.sha256(raw).hexdigest() != told["sha256"] or len(raw) != told["bytes"]:
        raise AssertionError("the digest is of other bytes")
    if told["events"] != len(lines) - 2 or bool(told["complete"]) != lines[-1]["complete"]:
        raise AssertionError("the answer and the file differ: %r" % told)
    return lines


def trace(tracer, action, during=None, packed=0):
    """Run one action of traced.c under the tracer."""
    group = Group()
    try:
        with tempfile.TemporaryFile() as file:
            child = start(group, action)
            run, answer = tracer.watch(group.id, file.fileno(), packed=packed)
            if answer[0] != WATCHING:
                raise AssertionError("WATCH was answered by %r" % (answer,))
            child.stdin.write(b"g")
            child.stdin.flush()
            if during:
                during(group, child)
            code = child.wait(120)
            child.stdin.close()
            child.stdout.close()
            group.wait_empty()
            answer = tracer.finish(run)
            return Trace(answer, read_back(answer, file), code)
    finally:
        group.close()
