"""The front's side of the protocol, written again: executor/protocol.h."""

import os
import socket
import struct

HELLO, RUN, CANCEL, LIST, OPEN, STOP = range(1, 7)
(WELCOME, STALE, FAILED, DECIDED, OUTPUT, FINISHED, ENTRY, LISTED, OPENED,
 STOPPED) = range(1, 11)
FILE, INLINE, DIRECTORY = range(1, 4)

ALL_SEALS = 15
F_ADD_SEALS = 1033


def u16(value):
    return struct.pack("<H", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def text(value):
    value = os.fsencode(value) if isinstance(value, str) else value
    return u16(len(value)) + value


def hello(version=6, any_policy=1, digest=b"\0" * 32):
    return u16(HELLO) + u32(version) + u32(any_policy) + digest


def run(request, language, args=b"", inputs=(), limits=(), label=""):
    return (u16(RUN) + u64(request) + text(language) + u32(len(limits)) +
            b"".join(text(n) + u64(v) for n, v in limits) +
            u32(len(args)) + args + u32(len(inputs)) +
            b"".join(text(h) + text(n) + u32(kind)
                     for h, n, kind in (i + (FILE,) * (3 - len(i))
                                        for i in inputs)) +
            text("test") + text("1") + text("") + text("") + text(label) +
            u32(0))


def cancel(request):
    return u16(CANCEL) + u64(request)


def list_(request, run_id):
    return u16(LIST) + u64(request) + text(run_id) + text("") + u32(0)


def open_(request, run_id, name):
    return u16(OPEN) + u64(request) + text(run_id) + text(name) + u32(0)


def stop(request):
    return u16(STOP) + u64(request)


def sealed(data):
    """A memory file that nobody can change any more."""
    import fcntl
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    fcntl.fcntl(fd, F_ADD_SEALS, ALL_SEALS)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        part = self.data[self.at:self.at + n]
        if len(part) != n:
            raise ValueError("message too short")
        self.at += n
        return part

    def u16(self):
        return struct.unpack("<H", self.take(2))[0]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def text(self):
        return self.take(self.u16()).decode()

    def words(self):
        return [self.text() for _ in range(self.u32())]


def decode(data):
    """(verb, members that the tests look at)."""
    r = Reader(data)
    verb = r.u16()
    if verb == FAILED:
        return verb, {"request": r.u64(), "kind": r.u32(), "text": r.text()}
    if verb == DECIDED:
        return verb, {"request": r.u64(), "run_id": r.text(),
                      "allow": r.u32(), "rules": r.words(),
                      "reasons": r.words(), "seq": r.u64()}
    if verb == OUTPUT:
        return verb, {"request": r.u64(), "stream": r.u32(),
                      "data": r.take(r.u32())}
    if verb == FINISHED:
        return verb, {"request": r.u64(), "run_id": r.text(),
                      "status": r.text(), "phase": r.text(),
                      "killed_by": r.text()}
    if verb == ENTRY:
        return verb, {"request": r.u64(), "name": r.text(), "size": r.u64()}
    return verb, {}


class Client:
    """A connected front."""

    def __init__(self, path, greet=True, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        if greet:
            self.send(hello())
            verb, _ = self.receive()
            if verb != WELCOME:
                raise AssertionError("greeted with %d" % verb)

    def send(self, data, fds=()):
        if fds:
            socket.send_fds(self.socket, [data], list(fds))
        else:
            self.socket.send(data)

    def receive(self):
        """The next message; (None, {}) at the end of file."""
        data, fds, _, _ = socket.recv_fds(self.socket, 1 << 18, 8)
        if not data:
            return None, {}
        verb, members = decode(data)
        if fds:
            members["fd"] = fds[0]
        return verb, members

    def run(self, language, code, stdin=b"", request=1, put=(), **more):
        """RUN and all its answers: (decision or failure, output, end)."""
        fds = [sealed(data) for data in (code, stdin) + tuple(put)]
        self.send(run(request, language, **more), fds)
        for fd in fds:
            os.close(fd)
        first, out = None, b""
        while True:
            verb, members = self.receive()
            if verb is None:
                return first, out, None
            if verb == FAILED:
                return members, out, None
            if verb == DECIDED:
                first = members
                if not members["allow"]:
                    return first, out, None
            if verb == OUTPUT:
                out += members["data"]
            if verb == FINISHED:
                return first, out, members

    def close(self):
        self.socket.close()
