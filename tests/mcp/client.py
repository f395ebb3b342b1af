"""An MCP client of few lines, which sends any bytes and checks every line that
comes back."""
import json
import os
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "service"))
import eras  # noqa: E402
import lib  # noqa: E402

META = "io.modelcontextprotocol/"
M = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
INFO = {"name": "test client", "version": "1.2"}


def languages():
    """Of the default preset, in the peer's order, others behind."""
    with open(lib.PRESET) as f:
        names = list(json.load(f)["languages"])
    peer = ["python", "java", "javascript", "cpp", "go", "ruby", "r"]
    return sorted(names, key=lambda n: (peer.index(n) if n in peer else len(peer), n))


def programs(place):
    """Pids of programs that run for this place; other tests run beside us."""
    own = set(place.launchers())
    return [pid for pid in lib.program_uids()
            if lib.cmdline(pid)[:1] == ["python3"] and lib.parent(lib.parent(pid)) in own]


def shared_place(**policy):
    """A place for all cases of a file; lib removes it at the end."""
    import atexit
    place = lib.Place(**policy)
    lib._places.remove(place)
    atexit.register(place.remove)
    return place


class Client:
    def __init__(self, place, *args, initialize="2025-11-25", **popen):
        popen.setdefault("stderr", subprocess.PIPE)
        popen.setdefault("stdin", subprocess.PIPE)
        popen.setdefault("stdout", subprocess.PIPE)
        self.process = subprocess.Popen(place.words("mcp", *args) if place else list(args), **popen)
        self.lines = queue.Queue()
        self.asked, self.unsent = {}, b""
        self.version = "2025-11-25"
        self.last_id = 100
        self.stashed = []
        if self.process.stdout is not None:
            threading.Thread(target=self._read, daemon=True).start()
        if initialize:
            self.initialized = self.ask("initialize", {"protocolVersion": initialize, "capabilities": {},
                                                       "clientInfo": INFO})
            self.version = self.initialized["result"]["protocolVersion"]
            self.notify("notifications/initialized")

    def _read(self):
        try:
            for line in self.process.stdout:
                self.lines.put(line)
        except ValueError:
            pass
        self.lines.put(None)

    def raw(self, data):
        *lines, self.unsent = (self.unsent + data).split(b"\n")
        for line in lines:
            self._note(line)
        if len(self.unsent) > 16 << 20:
            self.unsent = b""  # longer than any line that is read
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _note(self, line):
        """What is asked, and in which era, so that its answer is judged."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict) and isinstance(one.get("id"), (str, int)):
                params = one.get("params")
                meta = params.get("_meta") if isinstance(params, dict) else None
                modern = isinstance(meta, dict) and META + "protocolVersion" in meta
                modern = modern or one.get("method") in ("server/discover", "subscriptions/listen")
                self.asked[json.dumps(one["id"])] = (modern, one.get("method"))

    def _judge(self, message):
        for one in message if isinstance(message, list) else [message]:
            modern, method = self.asked.get(json.dumps(one.get("id")), (False, None))
            if "result" in one and method == "initialize":
                self.version = one["result"]["protocolVersion"]
            eras.must_be(one, eras.MODERN if modern else self.version, method)

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def request(self, method, params=None, id_=None):
        if id_ is None:
            self.last_id += 1
            id_ = self.last_id
        message = {"jsonrpc": "2.0", "id": id_, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return id_

    def line(self, seconds=lib.PATIENCE_S):
        """The next line as bytes; None at the end of output."""
        line = self.lines.get(timeout=seconds)
        if line is not None:
            lib.check(line.endswith(b"\n") and len(line) <= 8 << 20, "a line of %d bytes" % len(line))
            self._judge(json.loads(line))
        return line

    def receive(self, seconds=lib.PATIENCE_S):
        if self.stashed:
            return self.stashed.pop(0)
        line = self.line(seconds)
        lib.check(line is not None, "the server left: %r" % self.errors())
        return json.loads(line)

    def errors(self):
        return self.process.stderr.read() if self.process.stderr and self.process.poll() is not None else b""

    def answer(self, id_, seconds=lib.PATIENCE_S):
        """The answer to one request; others are kept."""
        kept = []
        while True:
            message = self.receive(seconds)
            if isinstance(message, dict) and message.get("id") == id_ and type(message.get("id")) is type(id_):
                self.stashed = kept + self.stashed
                return message
            kept.append(message)

    def ask(self, method, params=None):
        return self.answer(self.request(method, params))

    def begin(self, tool, id_=None, meta=None, **arguments):
        params = {"name": tool, "arguments": arguments}
        if meta is not None:
            params["_meta"] = meta
        return self.request("tools/call", params, id_)

    def call(self, tool, **arguments):
        return Result(self.answer(self.begin(tool, **arguments)))

    def nothing(self):
        """Nothing is on its way: a ping's answer is the next line."""
        id_ = self.request("ping")
        message = self.receive()
        lib.equal(message.get("id"), id_, "an answer that nobody waits for: %r" % message)

    def end(self):
        """End of input; the exit code and how long it took."""
        start = time.monotonic()
        self.process.stdin.close()
        code = self.process.wait(lib.PATIENCE_S)
        seconds = time.monotonic() - start
        self.close()
        return code, seconds

    def close(self):
        for pipe in (self.process.stdin, self.process.stderr):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Result:
    """A tool's answer."""

    def __init__(self, message):
        self.message = message
        lib.check("result" in message, "no result: %r" % message)
        self.content = message["result"]["content"]
        self.is_error = message["result"].get("isError", False)
        self.text = [c["text"] for c in self.content if c["type"] == "text"][-1]

    @property
    def json(self):
        return json.loads(self.text)

    def __repr__(self):
        return repr(self.message)[:1500]


def code_of(message):
    return message.get("error", {}).get("code")
