"""Clients that write too much, read too little, or do either too slowly: the
memory of bailiff-mcp stays bounded, nothing locks up, every answer comes.

Run as: python3 test_flood.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import collections
import json
import os
import select
import subprocess
import time

from client import Client, Result, lib, programs, shared_place
from lib import case, check, equal, main, need_programs, need_root, wait_for

need_root()
need_programs("bailiff-mcp", "bailiff-supervisor", "bailiff-signer", "bailiff-launch")
PLACE = shared_place(concurrency={"runs": 2, "queue": 64})
MIB = 1 << 20


class Pipes:
    """A client with both ends in hand: nothing reads unless told to."""

    def __init__(self):
        self.process = subprocess.Popen(PLACE.words("mcp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.into, self.out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.into, False)
        self.rest, self.lines = [], collections.deque()
        self.write(self.message(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}))
        self.read_line()

    @staticmethod
    def message(id_, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if id_ is not None:
            message["id"] = id_
        if params is not None:
            message["params"] = params
        return json.dumps(message).encode() + b"\n"

    def push(self, data):
        """Write until the server takes no more for a while; what is left."""
        while data:
            if not select.select([], [self.into], [], 1.0)[1]:
                break
            try:
                data = data[os.write(self.into, data[:65536]):]
            except BlockingIOError:
                pass
        return data

    def write(self, data):
        while data:
            select.select([], [self.into], [], lib.PATIENCE_S)
            try:
                data = data[os.write(self.into, data):]
            except BlockingIOError:
                pass

    def read_line(self):
        while not self.lines:
            check(select.select([self.out], [], [], lib.PATIENCE_S)[0], "no answer")
            part = os.read(self.out, 1 << 20)
            check(part, "the server left")
            *lines, last = part.split(b"\n")
            for line in lines:
                self.rest.append(line)
                self.lines.append(b"".join(self.rest))
                self.rest = []
            self.rest.append(last)
        return json.loads(self.lines.popleft())

    def peak_kib(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return [int(l.split()[1]) for l in f if l.startswith("VmHWM")][0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@case("10,000 requests whose answers nobody reads are held, then all answered in order")
def _():
    with Pipes() as p:
        many = b"".join(p.message(n, "ping") for n in range(10000))
        equal(p.push(many), b"", "what was not taken")
        check(p.peak_kib() < 24 << 10, "peak %d KiB" % p.peak_kib())
        equal([p.read_line()["id"] for _ in range(10000)], list(range(10000)))


@case("answers of 50 MiB that wait cost a bounded amount; the writer waits too")
def _():
    with Pipes() as p:
        ask = b"".join(p.message(n, "tools/list") for n in range(8000))
        ask += b"".join(p.message(n, "x" * 2000) for n in range(4000))
        left = p.push(ask)
        check(left, "everything was taken: %d bytes" % len(ask))
        check(p.peak_kib() < 24 << 10, "peak %d KiB" % p.peak_kib())
        size = 0
        for n in range(8000):
            message = p.read_line()
            equal(message["id"], n)
            size += len(json.dumps(message))
            left = left and left[os.write(p.into, left[:4096]):] if select.select([], [p.into], [], 0)[1] else left
        check(size > 40 * MIB, "only %d bytes" % size)
        check(p.peak_kib() < 24 << 10, "peak %d KiB" % p.peak_kib())


@case("while the reader stalls a cancel still reaches its run")
def _():
    with Pipes() as p:
        p.write(p.message("run", "tools/call", {"name": "execute_code", "arguments": {
            "code": "import time\nwhile True: time.sleep(1)"}}))
        wait_for(lambda: programs(PLACE), "the program")
        equal(p.push(b"".join(p.message(n, "tools/list") for n in range(2000))), b"", "what was not taken")
        p.write(p.message(None, "notifications/cancelled", {"requestId": "run"}))
        wait_for(lambda: not programs(PLACE), "the end of the program")
        equal([p.read_line()["id"] for _ in range(2000)], list(range(2000)), "and no answer to the run")


@case("results that nobody reads wait at the service")
def _():
    code = ("import os\nhead = b'\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR' + b'\\0\\0\\0\\1' * 2\n"
            "for i in range(8): open('%d.png' % i, 'wb').write(head + os.urandom(500000))\n"
            "print('x' * 30000)")
    with Pipes() as p:
        for n in range(6):
            p.write(p.message(n, "tools/call", {"name": "execute_code", "arguments": {"code": code}}))
        log = PLACE.state
        wait_for(lambda: sum(r.get("type") == "outcome" for r in lib.records(log)) >= 7, "six runs")
        check(p.peak_kib() < 48 << 10, "peak %d KiB" % p.peak_kib())
        answers = {}
        for _ in range(6):
            message = p.read_line()
            answers[message["id"]] = message
        equal(sorted(answers), list(range(6)))
        for message in answers.values():
            r = Result(message)
            equal([c["type"] for c in r.content].count("image"), 8, r.json["status"])
        check(p.peak_kib() < 48 << 10, "peak %d KiB" % p.peak_kib())


@case("malformed lines and lines that are too long by the thousand are each answered")
def _():
    with Pipes() as p:
        equal(p.push(b'{"jsonrpc":\n' * 20000), b"", "what was not taken")
        check(p.peak_kib() < 24 << 10, "peak %d KiB" % p.peak_kib())
        for _ in range(20000):
            equal(p.read_line()["error"]["code"], -32700)
        for _ in range(3):
            p.write(b"[" * (9 * MIB) + b"\n")
        p.write(p.message(5, "ping"))
        equal([p.read_line().get("error", {}).get("code") for _ in range(4)], [-32600] * 3 + [None])
        check(p.peak_kib() < 40 << 10, "peak %d KiB" % p.peak_kib())


@case("a writer of one byte at a time, and an argument of many keys, cost nothing")
def _():
    with Client(PLACE) as c:
        for byte in b'{"jsonrpc":"2.0","id":"slow","method":"ping"}':
            c.raw(bytes([byte]))
            time.sleep(0.01)
        c.raw(b"\n")
        equal(c.receive()["id"], "slow")
        start = time.monotonic()
        arguments = ",".join('"k%d":1' % n for n in range(15000))
        c.raw(('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_run","arguments":{%s}}}\n' %
               arguments).encode())
        check(Result(c.receive()).is_error, "fifteen thousand keys")
        c.raw(b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":[' + b"1," * 100000 + b"1]}}\n")
        equal(c.receive()["error"]["code"], -32700)
        check(time.monotonic() - start < 20, "it took long")
        check(c.call("get_policy").json["name"], "goes on")


@case("wrong calls by the hundred do not cost the client its service")
def _():
    with Client(PLACE) as c:
        ids = [c.begin("execute_code", nope=1) for _ in range(300)]
        recorded = 0
        for id_ in ids:
            r = Result(c.answer(id_))
            equal((r.is_error, r.json["status"]), (True, "denied"))
            recorded += r.json["audit"] is not None
        check(recorded >= 5, "%d recorded" % recorded)
        equal(c.call("execute_code", code="print(1)").json["stdout"], "1\n")


main()
