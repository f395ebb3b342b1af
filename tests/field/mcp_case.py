"""One field case over `bailiff mcp`: lines to its standard input, and what must and must not come back."""
import base64
import json
import subprocess
import sys
import threading
import time

TOOL = "execute_code"
PATIENCE_S = 60


class Server:
    def __init__(self, words, slow):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines, self.sent, self.came = [], {}, {}
        self.slow = slow
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        rest = b""
        while True:
            data = self.process.stdout.read1(1024 if self.slow else 65536)
            if not data:
                break
            rest += data
            *whole, rest = rest.split(b"\n")
            for line in whole:
                self.lines.append(line)
                try:
                    one = json.loads(line)
                except ValueError:
                    continue
                if "method" not in one:
                    self.came.setdefault(one.get("id"), (one, time.monotonic()))
            if self.slow:
                time.sleep(0.005)
        if rest:
            self.lines.append(rest)

    def send(self, line):
        """One line; whatever has an id is waited for by WAIT_ALL."""
        if line.startswith("PY_COMMENT_1MIB:"):
            _, number, statement = line.split(":", 2)
            code = "# " + "x" * (1 << 20) + "\n" + statement + "\n"
            line = json.dumps({"jsonrpc": "2.0", "id": int(number), "method": "tools/call", "params": {
                "name": TOOL, "arguments": {"language": "python", "code": code}}})
        elif line.startswith("RAW:"):
            line = line[4:]
        self.note(line)
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def note(self, line):
        try:
            one = json.loads(line)
        except ValueError:
            return
        if isinstance(one, dict) and "id" in one:
            self.sent[one["id"]] = time.monotonic()

    def wait_all(self, but=()):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and not set(self.sent) <= set(self.came) | set(but):
            time.sleep(0.01)


def ours(message):
    """The neutral name of a limit, by the name of our argument."""
    arguments = message.get("params", {}).get("arguments", {})
    if "limits" in arguments:
        arguments["timeout"] = arguments.pop("limits")["wall_ms"] / 1000
    return message


def play(server, request, expect):
    for item in request["send"]:
        if isinstance(item, str) and item.startswith("WAIT:"):
            time.sleep(int(item[5:]) / 1000)
        elif item == "WAIT_ALL":
            server.wait_all(expect.get("no_response_ids", ()))
        else:
            text = item if isinstance(item, str) else json.dumps(ours(item))
            server.send(text.replace("{{EXEC_TOOL}}", TOOL))
    if "close_after_ms" in request:
        time.sleep(request["close_after_ms"] / 1000)
    elif "hold_open_ms" in request:
        time.sleep(request["hold_open_ms"] / 1000)
    else:
        server.wait_all(expect.get("no_response_ids", ()))
    closed = time.monotonic()
    server.process.stdin.close()
    server.process.wait(PATIENCE_S)
    server.reader.join(PATIENCE_S)
    return time.monotonic() - closed


def text_of(result):
    """All that a model reads."""
    return "\n".join(part.get("text", "") for part in result.get("content", ())) + json.dumps(
        result.get("structuredContent", ""))


def judge_one(want, server, response):
    number = response["id"]
    if number is None:
        # An error of what has no id may come without one, or not at all.
        one = server.came.get(None, ({"error": {"code": response["error_code"]}}, 0))[0]
        want(one["error"]["code"] == response["error_code"], "error", one)
        return
    want(number in server.came, "no answer to", number)
    one, came = server.came[number]
    if "has" in response:
        want(response["has"] in one, "answer", number, "is", str(one)[:300])
    if "error_code" in response:
        want(one.get("error", {}).get("code") == response["error_code"], "error", one)
    if "within_ms" in response:
        want(came - server.sent[number] <= response["within_ms"] / 1000, "answer", number, "took", came - server.sent[number])
    result = one.get("result", {})
    text = text_of(result)
    for key in ("text_contains", "partial_stdout"):
        want(response.get(key, "") in text, "answer", number, "lacks", response.get(key), text[:300])
    want(len(text) >= response.get("text_min_len", 0), "answer", number, "has", len(text))
    if "is_error" in response:
        want(result.get("isError", False) == response["is_error"], "isError", str(one)[:300])
    if "truncated" in response:
        want("truncated" in text, "answer", number, "is whole")


def run(place, case, want):
    request, expect = case["request"], case["expect"]
    server = Server(place.words("mcp"), request.get("reader") == "slow")
    try:
        took = play(server, request, expect)
    finally:
        if server.process.poll() is None:
            server.process.kill()
    for response in expect.get("responses", ()):
        judge_one(want, server, response)
    for number in [*expect.get("no_response_ids", ()), *expect.get("unexpected_ids_absent", ())]:
        want(number not in server.came, "answer to", number)
    if expect.get("stdout_lines_are_json"):
        for line in server.lines:
            want(json.loads(line)["jsonrpc"] == "2.0", "line", line[:200])
    if "server_exit" in expect:
        want(server.process.returncode == expect["server_exit"], "exit", server.process.returncode,
             server.process.stderr.read()[-300:])
    if "server_exit_within_ms" in expect:
        want(took <= expect["server_exit_within_ms"] / 1000, "exit took", took)


class Files:
    """A program over MCP, and the files that it left: the names told, the bytes read as resources."""

    def __init__(self, place, language, code):
        self.server, self.last = Server(place.words("mcp"), False), 0
        try:
            self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
            self.server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            self.result = self.ask("tools/call", {"name": TOOL, "arguments": {"language": language, "code": code}})
            self.json = json.loads([part["text"] for part in self.result["content"] if part["type"] == "text"][-1])
            self.found = {one["path"]: self.read(one) for one in self.json.get("artifacts", ())}
            self.server.process.stdin.close()
            self.server.process.wait(PATIENCE_S)
        finally:
            if self.server.process.poll() is None:
                self.server.process.kill()

    def ask(self, method, params):
        self.last += 1
        self.server.send(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))
        self.server.wait_all()
        return self.server.came[self.last][0]["result"]

    def read(self, one):
        content = self.ask("resources/read", {"uri": one["uri"]})["contents"][0]
        if "text" in content:
            return content["text"].encode()
        if content["blob"].split() not in ([content["blob"]], []):
            raise AssertionError("white space in base64")
        return base64.b64decode(content["blob"], validate=True)

    def files(self):
        return self.found

    @property
    def reply(self):
        return {"use": {"files_skipped": self.json.get("artifacts_skipped", 0)}}


if __name__ == "__main__":
    sys.exit("run test_field.py")
