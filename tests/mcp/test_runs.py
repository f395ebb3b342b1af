"""Tools that run code, over pipes against the real service: results, denials,
parallel calls, cancellation, progress, background, and every way to leave.

Run as: python3 test_runs.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import base64
import hashlib
import importlib.metadata
import json
import os
import signal
import struct
import time
import zlib

from client import M, META, Client, Result, code_of, languages, lib, programs, shared_place
from lib import case, check, equal, main, need_programs, need_root, wait_for

need_root()
need_programs("bailiff-mcp", "bailiff-supervisor", "bailiff-signer", "bailiff-launch")
PLACE = shared_place(limits={"wall_ms": {"default": 30000, "max": 60000}}, concurrency={"runs": 2, "queue": 3})
FOREVER = "import time\nprint('up', flush=True)\nwhile True: time.sleep(1)"


def records(kind, place=PLACE):
    if not os.path.isdir(os.path.join(place.state, "audit", "log")):
        return []
    return [r for r in place.records() if r.get("type") == kind]


def record_of(run_id, kind, place=PLACE):
    return [r for r in place.records() if r.get("req") == run_id and r.get("type") == kind]


def alive(marker):
    return lib.run_processes(marker)


def png(color=b"\x10\x20\x30"):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"\0" + color)) + chunk(b"IEND", b""))


@case("the first keys of a result are the peer's, and it names its record")
def _():
    with Client(PLACE) as c:
        r = c.call("execute_code", code="print(1)")
        equal(list(r.json)[:3], ["exit_code", "stderr", "stdout"])
        equal((r.json["exit_code"], r.json["stdout"], r.json["stderr"], r.json["status"], r.is_error),
              (0, "1\n", "", "ok", False))
        check(r.text.startswith('{\n  "exit_code": 0,\n  "stderr": "",\n  "stdout": '), r.text)
        run_id = r.json["run_id"]
        outcome = record_of(run_id, "outcome")
        equal(len(outcome), 1, "outcomes of %s" % run_id)
        equal(r.json["audit"]["seq"], outcome[0]["seq"])
        equal(r.message["result"]["_meta"]["bailiff/auditLeaf"], r.json["audit"]["leaf"])
        claims = record_of(run_id, "intent")[0]["claims"]
        equal((claims["client"], claims["version"]), ("test%20client", "1.2"))


@case("the program's own failure is a result, not an error")
def _():
    with Client(PLACE) as c:
        r = c.call("execute_code", code="import sys; sys.exit(3)")
        equal((r.json["exit_code"], r.json["status"], r.is_error), (3, "error", False))
        r = c.call("execute_code", code="kill -SEGV $$", language="BASH")
        equal((r.json["exit_code"], r.json["signal"], r.is_error), (139, 11, False))
        r = c.call("execute_code", code="raise ValueError('x')")
        check("ValueError: x" in r.json["stderr"] and r.json["exit_code"] == 1, r)


@case("arguments are taken as leniently as the peer takes them")
def _():
    with Client(PLACE) as c:
        for more in ({"libraries": None}, {"libraries": ["numpy"]}, {"libraries": '["numpy"]'}, {"timeout": "5"},
                     {"timeout": 5.0}, {"language": "Python"}, {"language": "py"}, {"language": None},
                     {"timeout": None, "files": None, "background": "false"}):
            r = c.call("execute_code", code="print(7)", **more)
            equal((r.json["stdout"], r.is_error), ("7\n", False), more)
            equal("libraries" in r.json, bool(more.get("libraries")), more)


@case("wrong arguments are an error that names the argument, and recorded")
def _():
    good = {"code": "print(1)"}
    wrong = [({}, "code"), ({"code": None}, "code"), ({"code": 5}, "code"), ({**good, "timeout": "abc"}, "timeout"),
             ({**good, "timeout": 0}, "timeout"), ({**good, "timeout": -1}, "timeout"),
             ({**good, "timeout": 1.5}, "timeout"), ({**good, "timeout": 10 ** 12}, "timeout"),
             ({**good, "nope\n": 1}, "nope"), ({**good, "session_id": "x"}, "session_id"),
             ({**good, "libraries": "numpy"}, "libraries"), ({**good, "libraries": [5]}, "libraries"),
             ({**good, "files": [{"path": "x"}]}, "files"), ({**good, "files": [{"path": "x", "content": "y", "z": 1}]}, "files"),
             ({**good, "files": [{"path": "x", "content": "!", "encoding": "base64"}]}, "files"),
             ({**good, "files": [{"path": "x", "content": "y"}] * 9}, "files"), ({**good, "background": 3}, "background"),
             ({**good, "language": ["python"]}, "language"), ({**good, "stdin": {}}, "stdin")]
    before = len(records("denial"))
    with Client(PLACE) as c:
        recorded = 0
        for arguments, name in wrong:
            r = Result(c.answer(c.request("tools/call", {"name": "execute_code", "arguments": arguments})))
            equal((r.is_error, r.json["status"], r.json["exit_code"]), (True, "denied", 126), arguments)
            check("'%s" % name in r.json["stderr"] and "unchanged" in r.json["stderr"], r.json["stderr"])
            recorded += "seq" in (r.json["audit"] or {})
        c.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":'
              b'{"code":"print(\'\\ud800\')"}}}\n')
        r = Result(c.receive())
        check(r.is_error and "surrogate" in r.json["stderr"], r)
        recorded += "seq" in (r.json["audit"] or {})
        equal(c.call("execute_code", **good).json["stdout"], "1\n")
    denials = records("denial")[before:]
    equal(len(denials), recorded, "denials")
    check(recorded >= 5 and all(d["reasons"] == ["request.malformed"] for d in denials), denials[-1])
    check(all("raw_sha256" in json.dumps(d) or "raw" in d for d in denials), denials[-1])


def same_code(run_id, code):
    """What the record says was run is what was sent, to the byte."""
    code = code.encode()
    recorded = record_of(run_id, "intent")[0]["code"]
    equal((recorded["sha256"], recorded["size"]), (hashlib.sha256(code).hexdigest(), len(code)))
    with open(os.path.join(PLACE.state, "results", run_id, "code" + {"python": ".py", "bash": ".sh"}[recorded["lang"]]), "rb") as f:
        check(f.read() == code, "another code is kept")


@case("code arrives byte for byte: separators, controls, carriage returns, a NUL")
def _():
    with Client(PLACE) as c:
        code = "s = '\u2028\u2029\u0085 \U0001f600 \x7f\x01'\nprint(len(s), s.encode().hex())\r\n# \t\x0c"
        r = c.call("execute_code", code=code)
        equal(r.json["stdout"], "8 %s\n" % "\u2028\u2029\u0085 \U0001f600 \x7f\x01".encode().hex())
        same_code(r.json["run_id"], code)
        code = "echo before\n# a\0b\r\necho 'after\r'\n"
        r = c.call("execute_code", code=code, language="bash")
        equal((r.json["stdout"], r.json["exit_code"]), ("before\nafter\r\n", 0), "a NUL in a comment")
        same_code(r.json["run_id"], code)
        # The same as the client may spell it: each character escaped.
        spelt = "".join("\\u%04x" % ord(ch) for ch in code)
        c.raw(('{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"execute_code","arguments":'
               '{"language":"bash","code":"%s"}}}\n' % spelt).encode())
        r = Result(c.answer("e"))
        same_code(r.json["run_id"], code)


@case("code of exactly the limit runs, one byte more is denied by name, a line beyond all bounds is no request")
def _():
    limit = 1 << 20
    with Client(PLACE) as c:
        head = "print(8)\n#"
        code = head + "x" * (limit - len(head))
        r = c.call("execute_code", code=code)
        equal((r.json["stdout"], r.is_error), ("8\n", False))
        same_code(r.json["run_id"], code)
        r = c.call("execute_code", code=code + "x")
        equal((r.is_error, r.json["exit_code"], r.json["policy"]["rule"]), (True, 126, "code.too_large"))
        check("too long" in r.json["stderr"] and "unchanged" in r.json["stderr"], r.json["stderr"])
        equal(record_of(r.json["run_id"], "denial")[0]["reasons"], ["code.too_large"])
        r = c.call("execute_code", code="")
        equal((r.is_error, r.json["policy"]["rule"]), (True, "code.empty"))
        c.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"' +
              b"x" * (9 << 20) + b'"}}}\n')
        message = c.receive()
        equal((code_of(message), "id" in message), (-32600, False))
        equal(c.call("execute_code", code="print(2)").json["stdout"], "2\n", "goes on")


@case("a call with a key twice runs nothing, whatever the key")
def _():
    before = len(records("intent"))
    with Client(PLACE) as c:
        for keys in ('"id":1,"id":2,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1"}}',
                     '"id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1","code":"2"}}',
                     '"id":1,"method":"tools/call","params":{"name":"get_policy","name":"execute_code","arguments":{}}'):
            c.raw(('{"jsonrpc":"2.0",%s}\n' % keys).encode())
            equal(code_of(c.receive()), -32600, keys)
        c.nothing()
    equal(len(records("intent")), before, "something ran")


@case("code that a rule of the policy forbids is denied, told and recorded, and never runs")
def _():
    place = lib.Place(languages={"python": {"rules": [{"id": "no_os", "module": "os"}]}})
    with Client(place) as c:
        r = c.call("execute_code", code="import os\nprint('ran')")
        equal((r.is_error, r.json["exit_code"], r.json["policy"]["decision"], r.json["policy"]["rule"], r.json["stdout"]),
              (True, 126, "deny", "code.rule.no_os", ""))
        check("unchanged" in r.json["stderr"], r.json["stderr"])
        denial = record_of(r.json["run_id"], "denial", place)
        equal((len(denial), denial[0]["seq"]), (1, r.json["audit"]["seq"]))
        equal(c.call("execute_code", code="print('import os')").json["stdout"], "import os\n")
    place.stop()
    done = place.verify()
    check(done.code in (0, 3), done)


@case("500 MiB of output cost the front and the result nothing")
def _():
    place = lib.Place(limits={"output": {"default": 1 << 30, "max": 1 << 30}})
    with Client(place, initialize=None) as c:
        c.ask("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "claude-code", "version": "1"}})
        r = c.call("execute_code", code="import os\nblock = b'x' * (1 << 20)\nfor i in range(500): assert os.write(1, block) == 1 << 20")
        equal((r.json["status"], r.json["truncated"]["stdout"], r.json["stdout_total"]), ("ok", True, 500 << 20))
        equal(len(r.json["stdout"]), 40000)
        peak = [int(line.split()[1]) for line in open("/proc/%d/status" % c.process.pid) if line.startswith("VmHWM")]
        check(peak[0] < 24 << 10, "peak memory %d KiB" % peak[0])


@case("standard input and files go along")
def _():
    with Client(PLACE) as c:
        r = c.call("execute_code", code="import sys\nprint(sys.stdin.read() + open('a.txt').read(), open('b', 'rb').read())",
                   stdin="in\u00e9", files=[{"path": "a.txt", "content": "text"},
                                           {"path": "b", "content": base64.b64encode(b"\0\xff").decode(),
                                            "encoding": "base64"}])
        equal(r.json["stdout"], "in\u00e9text b'\\x00\\xff'\n", r)
        r = c.call("execute_code", code="1", files=[{"path": "../x", "content": ""}])
        equal((r.is_error, r.json["policy"]["decision"]), (True, "deny"))
        check("path" in r.json["policy"]["rule"], r)
        for path in ("a/b.txt", "a/", "/a", ".", "-a", "main.py", "a\nb"):
            r = c.call("execute_code", code="1", files=[{"path": path, "content": ""}])
            equal((r.is_error, r.json["policy"]["rule"]), (True, "path.name"), path)
            check("without a slash" in r.json["stderr"] and "make folders" in r.json["stderr"], r.json["stderr"])


@case("a denial says the rule, what is allowed, and that repeating will not help")
def _():
    with Client(PLACE) as c:
        for arguments, rule, word in (({"language": "cobol"}, "language.not_allowed", "python, "),
                                      ({"timeout": 61}, "limit.wall.above_max", "60000")):
            r = c.call("execute_code", code="1", **arguments)
            equal((r.is_error, r.json["status"], r.json["exit_code"], r.json["policy"]["decision"]),
                  (True, "denied", 126, "deny"))
            equal(r.json["policy"]["rule"], rule)
            check(word in r.json["stderr"] and "unchanged" in r.json["stderr"], r.json["stderr"])
            denial = record_of(r.json["run_id"], "denial")
            equal((len(denial), denial[0]["seq"]), (1, r.json["audit"]["seq"]))
            g = c.call("get_run", run_id=r.json["run_id"])
            equal((g.json["status"], g.is_error), ("denied", True))


@case("a timeout keeps what came before it")
def _():
    with Client(PLACE) as c:
        start = time.monotonic()
        r = c.call("execute_code", code="print('so far', flush=True)\nwhile True: pass", timeout=1)
        equal((r.is_error, r.json["status"], r.json["exit_code"], r.json["stdout"], r.json["killed_by"]),
              (True, "timeout", 124, "so far\n", "wall"))
        check("1.000 s" in r.json["stderr"], r)
        check(time.monotonic() - start < 20, "took too long")


@case("output that is no text, or too much, still makes a valid line")
def _():
    with Client(PLACE) as c:
        r = c.call("execute_code", code="import os; os.write(1, b'\\xff\\x1b[31m\\x00 ok\\n'); os.write(2, b'\\xc3')")
        equal(r.json["stdout"], "\ufffd\x1b[31m\0 ok\n")
        equal((r.json["stderr"], r.json["encoding_errors"]), ("\ufffd", 2))


@case("long output is shown up to what the client shows its model, the rest is read on")
def _():
    code = "import sys\nfor i in range(400000): sys.stdout.write('\u00e9%d\\n' % i)\nsys.stderr.write('e' * 9)"
    whole = "".join("\u00e9%d\n" % i for i in range(200000))
    for name, shown in (("claude-code", 40000), ("any", 400000)):
        with Client(PLACE, initialize=None) as c:
            c.ask("initialize", {"protocolVersion": "2025-06-18", "clientInfo": {"name": name, "version": "1"}})
            r = c.call("execute_code", code=code)
            got = r.json["stdout"].encode()
            equal(r.json["truncated"], {"stdout": True, "stderr": False})
            check(shown - 20 < len(got) <= shown and b"\xef\xbf\xbd" not in got, "%s: %d bytes" % (name, len(got)))
            equal(r.json["stderr"], "e" * 9)
            check(r.json["stdout_total"] > 1 << 20, r.json["stdout_total"])
            next_ = c.call("get_run", run_id=r.json["run_id"], stdout_offset=len(got))
            both = r.json["stdout"] + next_.json["stdout"]
            equal(both, whole[:len(both)], "the next part follows")
            check(len(both.encode()) > 2 * shown - 40, "the next part is short")
    with Client(PLACE, initialize=None) as c:
        modern = {**M, META + "clientInfo": {"name": "claude-code", "version": "2"}}
        for meta, shown in ((modern, 40000), (M, 100001)):
            r = Result(c.answer(c.begin("execute_code", meta=meta, code="print('y' * 100000)")))
            equal(len(r.json["stdout"]), shown, meta)
        odd = Result(c.answer(c.begin("execute_code", meta=M, code="import os; os.write(1, b'\\0' * 600000)")))
        equal(len(odd.json["stdout"]), 400000, "the worst bytes still make a line")


@case("what a program does to its descriptors and children never reaches our output")
def _():
    code = """
import os, sys
os.close(0)
for fd in range(3, 40):
    try: os.write(fd, b'not json')
    except OSError: pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '4242.17'])
    os._exit(0)
print('{"jsonrpc":"2.0","id":1,"result":{}}')
"""
    with Client(PLACE) as c:
        r = c.call("execute_code", code=code)
        equal(r.json["stdout"], '{"jsonrpc":"2.0","id":1,"result":{}}\n')
        equal(alive("4242.17"), [], "survivors")
        c.nothing()


@case("images come first, then the text, then links to other files")
def _():
    code = "open('b.png','wb').write(bytes.fromhex('%s'))\nopen('fake.png','w').write('x')\nopen('a b.csv','w').write('1,2')\nprint('done')" % png().hex()
    with Client(PLACE) as c:
        r = c.call("execute_code", code=code)
        equal({p["type"] for p in r.content[2:]}, {"resource_link"})
        equal(r.content[0], {"type": "image", "data": base64.b64encode(png()).decode(), "mimeType": "image/png"})
        equal(r.content[1]["type"], "text")
        links = {p["name"]: p for p in r.content[2:]}
        equal(set(links) >= {"a b.csv"}, True, links)
        equal((links["a b.csv"]["mimeType"], links["a b.csv"]["size"]), ("text/csv", 3))
        artifacts = {a["path"]: a for a in r.json["artifacts"]}
        equal(set(artifacts), {"b.png", "fake.png", "a b.csv"})
        equal(artifacts["b.png"]["sha256"], hashlib.sha256(png()).hexdigest())
        for link in links.values():
            got = c.ask("resources/read", {"uri": link["uri"]})["result"]["contents"][0]
            check("text" in got or "blob" in got, got)
    with Client(PLACE, initialize="2024-11-05") as c:
        r = c.call("execute_code", code=code)
        equal([p["type"] for p in r.content], ["image", "text"], "no links for an old client")


@case("what a program showed comes before what it saved, and an image is what its content says")
def _():
    code = """
import os
os.mkdir('plots')
image = bytes.fromhex('%s')
for name in ('plots/0002.png', 'plots/0001.png', 'a.png', 'really.txt'):
    open(name, 'wb').write(image + name.encode())
open('plots/0003.svg', 'w').write('<svg width="40" height="30"></svg>')
open('cut.png', 'wb').write(image[:12])
open('fake.png', 'w').write('text')
""" % png().hex()
    with Client(PLACE) as c:
        r = c.call("execute_code", code=code)
        images = [base64.b64decode(p["data"])[len(png()):].decode() for p in r.content if p["type"] == "image"]
        equal(images, ["plots/0001.png", "plots/0002.png", "a.png", "really.txt"])
        found = {a["path"]: a for a in r.json["artifacts"]}
        equal([p for p in found if found[p].get("plot")], ["plots/0001.png", "plots/0002.png", "plots/0003.svg"])
        equal((found["plots/0003.svg"]["type"], found["plots/0003.svg"]["width"], found["plots/0003.svg"]["height"]), ("image/svg+xml", 40, 30))
        equal((found["fake.png"]["type"], found["cut.png"]["type"], "width" in found["cut.png"]), ("text/plain", "image/png", False))
        links = {p["name"]: p["mimeType"] for p in r.content if p["type"] == "resource_link"}
        equal(links, {"cut.png": "image/png", "fake.png": "text/plain", "plots/0003.svg": "image/svg+xml"})
        listed = c.call("list_files", run_id=r.json["run_id"]).json["files"]
        equal({f["path"]: f["type"] for f in listed}["really.txt"], "image/png")


@case("files of a run are listed and read, and nothing outside it is")
def _():
    code = """
import os
os.makedirs('d', exist_ok=True)
open('d/t.txt', 'w').write('\u00e9' * 30000)
open('bin', 'wb').write(bytes(range(256)))
open('empty', 'w')
os.symlink('/etc/passwd', 'link')
"""
    with Client(PLACE) as c:
        run = c.call("execute_code", code=code).json["run_id"]
        files = c.call("list_files", run_id=run).json
        equal(sorted(f["path"] for f in files["files"]), ["bin", "d/t.txt", "empty"])
        part = c.call("read_file", run_id=run, path="d/t.txt").json
        equal((part["encoding"], part["end"], part["content"]), ("utf-8", False, "\u00e9" * 20000))
        rest = c.call("read_file", run_id=run, path="d/t.txt", offset=part["length"]).json
        equal(part["content"] + rest["content"], "\u00e9" * 30000)
        odd = c.call("read_file", run_id=run, path="d/t.txt", limit=3).json
        equal(odd["content"], "\u00e9", "a cut character is left to the next part")
        got = c.call("read_file", run_id=run, path="bin").json
        equal((got["encoding"], base64.b64decode(got["content"])), ("base64", bytes(range(256))))
        equal(c.call("read_file", run_id=run, path="empty").json["content"], "")
        for path in ("link", "../stdout", "/etc/passwd", "d/../bin", "d//t.txt", "", ".", "none", "x\0y", "%2e%2e/stdout"):
            check(c.call("read_file", run_id=run, path=path).is_error, path)
        base = "sandbox://runs/" + run
        equal(c.ask("resources/read", {"uri": base + "/stdout"})["result"]["contents"][0]["text"], "")
        for uri in (base + "/files/link", base + "/files/../stdout", base + "/files/%2e%2e/stdout",
                    "sandbox://runs/../../etc/passwd", base + "/files/", base + "/../x", base, base + "/code.py",
                    "sandbox://runs/r_" + "0" * 32 + "/stdout", "file:///etc/passwd", "sandbox://nope", ""):
            error = c.ask("resources/read", {"uri": uri})["error"]
            equal((error["code"], error["data"]), (-32002, {"uri": uri}), uri)
            error = c.ask("resources/read", {"uri": uri, "_meta": M})["error"]
            equal((error["code"], error["data"]), (-32602, {"uri": uri}), uri)
        equal(code_of(c.ask("resources/read", {"uri": 5})), -32602)
        listed = [r["uri"] for r in c.ask("resources/list")["result"]["resources"]]
        equal(listed, ["sandbox://languages", "sandbox://policy"])
        for name, arguments in (("list_files", {"run_id": "r_" + "0" * 32}), ("list_files", {"run_id": "x"}),
                                ("get_run", {"run_id": "r_" + "f" * 32}), ("cancel_run", {"run_id": "r_" + "f" * 32})):
            check(c.call(name, **arguments).is_error, name)


@case("another connection reads a finished run by its id")
def _():
    with Client(PLACE) as c:
        r = c.call("execute_code", code="print('kept'); open('f','w').write('x'); exit(4)")
    with Client(PLACE) as c:
        g = c.call("get_run", run_id=r.json["run_id"])
        for key in ("exit_code", "stdout", "status", "run_id", "artifacts", "policy"):
            equal(g.json[key], r.json[key], key)
        equal(g.json["audit"], r.json["audit"], "the outcome's place in the log")
        equal(g.message["result"]["_meta"]["bailiff/auditLeaf"], r.json["audit"]["leaf"])
        outcome = record_of(r.json["run_id"], "outcome")[0]
        equal(g.json["audit"]["seq"], outcome["seq"])
    record = os.path.join(PLACE.state, "results", r.json["run_id"], "record.dsse.json")
    with open(record, "rb") as f:
        good = f.read()
    for bad in (good.replace(b'"payload": "', b'"payload": "x'), b"{", b""):
        with open(record, "wb") as f:
            f.write(bad)
        with Client(PLACE) as c:
            g = c.call("get_run", run_id=r.json["run_id"]).json
            equal((g["status"], g["audit"].get("record")), ("error", "intent"), "without the record")
    with open(record, "wb") as f:
        f.write(good)


@case("the policy and the languages are told as they are")
def _():
    with Client(PLACE) as c:
        policy = c.call("get_policy").json
        intent = record_of(c.call("execute_code", code="1").json["run_id"], "intent")[0]
        equal(policy["hash"], "sha256:" + intent["policy"]["sha256"])
        equal(policy["languages"]["python"]["limits"]["wall_ms"], {"default": 30000, "max": 60000})
        equal(policy["concurrency"], {"runs": 2, "queue": 3})
        text = c.ask("resources/read", {"uri": "sandbox://policy"})["result"]["contents"][0]["text"]
        equal(hashlib.sha256(text.encode()).hexdigest(), intent["policy"]["sha256"])
        details = c.call("get_language_details", language="Python").json
        equal(list(details)[:6], ["version", "package_manager", "preinstalled_libraries", "use_cases",
                                  "visualization_support", "examples"])
        real = [line.split()[1] for line in lib.call(["/usr/bin/python3", "--version"]).out.decode().splitlines()][0]
        equal(details["version"], real)
        names = details["preinstalled_libraries"]
        check("jsonschema" in names and names == sorted(set(names)) == list(details["library_versions"]), names)
        equal(details["library_versions"]["jsonschema"], importlib.metadata.version("jsonschema"))
        for example in details["examples"]:
            equal(list(example), ["title", "description", "code"])
            equal(c.call("execute_code", code=example["code"]).json["exit_code"], 0, example["title"])
        r = c.call("get_language_details", language="COBOL")
        equal((r.json, r.is_error), ({"error": "Unsupported language: COBOL"}, False))
        told = c.ask("resources/read", {"uri": "sandbox://languages"})["result"]["contents"][0]
        equal(list(json.loads(told["text"])), languages())


@case("slow calls overlap, lists are answered meanwhile, one too many is busy")
def _():
    with Client(PLACE) as c:
        waits = "import time; time.sleep(2); print(time.time())"
        ids = [c.begin("execute_code", code=waits) for _ in range(2)]
        more = [c.begin("execute_code", code="print(%d)" % i) for i in range(3)]
        start = time.monotonic()
        for method in ("ping", "tools/list", "resources/list"):
            check("result" in c.ask(method), method)
        check("result" in c.ask("server/discover", {"_meta": M}), "discover")
        check(time.monotonic() - start < 2, "lists waited for runs")
        busy = c.call("execute_code", code="1")
        equal((busy.is_error, busy.json["policy"]["rule"], busy.json["status"]), (True, "concurrency.busy", "denied"))
        check("again" in busy.json["stderr"], busy)
        equal(len(record_of(busy.json["run_id"], "denial")), 1)
        times = [float(Result(c.answer(i)).json["stdout"]) for i in ids]
        check(abs(times[0] - times[1]) < 1.9, "they ran one after the other: %r" % times)
        equal([Result(c.answer(i)).json["stdout"] for i in more], ["0\n", "1\n", "2\n"])
        for _ in range(30):
            c.begin("execute_code", code="import time; time.sleep(0.3)")
        answers = [Result(c.receive()) for _ in range(30)]
        # A run's place may be taken a moment longer than its answer takes.
        done = [a for a in answers if a.json["status"] == "ok"]
        check(len(done) >= 2, "all were busy")
        equal({a.json["policy"]["rule"] for a in answers if a not in done}, {"concurrency.busy"}, "the others")
        equal(c.call("execute_code", code="print(5)").json["stdout"], "5\n")


@case("progress rises, carries the token, and stops with the answer")
def _():
    with Client(PLACE) as c:
        for token in ("p", 7):
            id_ = c.begin("execute_code", code="import time\nfor i in range(3): print(i, flush=True); time.sleep(0.9)",
                          meta={"progressToken": token})
            seen = []
            while True:
                message = c.receive()
                if message.get("id") == id_:
                    break
                equal(message["method"], "notifications/progress")
                seen.append(message["params"])
            check(len(seen) >= 2, seen)
            check(all(p["progressToken"] == token and type(p["progressToken"]) is type(token) for p in seen), seen)
            check(seen[0]["progress"] < 2000, "the first comes late: %r" % seen[0])
            values = [p["progress"] for p in seen]
            check(values == sorted(set(values)) and seen[0]["total"] == 30000, seen)
            c.nothing()
        id_ = c.begin("execute_code", code="import time; time.sleep(1.5)")
        equal(c.receive()["id"], id_, "progress nobody asked for")


@case("a cancelled call is never answered, its processes die, its id is free")
def _():
    with Client(PLACE) as c:
        c.begin("execute_code", id_="a", meta={"progressToken": "t"}, code=FOREVER + " # mark 7391.1")
        wait_for(lambda: records("intent") and programs(PLACE), "the program")
        equal(code_of(c.ask("ping")), None)
        c.begin("execute_code", id_="a", code="1")
        equal(code_of(c.receive()), -32600, "the id is in flight")
        for wrong in ("b", 5, {"x": 1}, "A", ["a"], None):
            c.notify("notifications/cancelled", {"requestId": wrong})
        before = len(records("outcome"))
        c.notify("notifications/cancelled", {"requestId": "a", "reason": "enough"})
        wait_for(lambda: len(records("outcome")) > before, "the record")
        outcome = records("outcome")[-1]
        equal((outcome["status"], outcome["killed_by"]), ("cancelled", "client"))
        c.stashed = [m for m in c.stashed if "method" not in m]
        message = None
        id_ = c.request("ping", None, "after")
        while message is None or message.get("id") != id_:
            message = c.receive()
            check(message.get("id") != "a", "an answer: %r" % message)
        c.begin("execute_code", id_="a", code="print(2)")
        equal(Result(c.answer("a")).json["stdout"], "2\n")


@case("an id of another type cancels nothing: 1 is not \"1\"")
def _():
    with Client(PLACE) as c:
        c.begin("execute_code", id_=1, code="import time; time.sleep(0.3); print('one')")
        c.begin("execute_code", id_="1", code=FOREVER)
        wait_for(lambda: len(programs(PLACE)) == 2, "both programs")
        c.notify("notifications/cancelled", {"requestId": "1"})
        equal(Result(c.answer(1)).json["stdout"], "one\n")
        wait_for(lambda: not programs(PLACE), "the end of the other")
        c.nothing()


@case("a background run is told of, waited for, cancelled, and dies with its client")
def _():
    with Client(PLACE) as c:
        r = c.call("execute_code", code="import time\nprint('one', flush=True)\ntime.sleep(1.5)\nprint('two')\nopen('f','w').write('x')",
                   background=True)
        equal((r.json["status"], r.json["exit_code"], r.is_error), ("running", None, False))
        run = r.json["run_id"]
        wait_for(lambda: c.call("get_run", run_id=run).json["stdout"] == "one\n", "the first line")
        g = c.call("get_run", run_id=run, wait_s=30)
        equal((g.json["status"], g.json["stdout"], g.json["exit_code"]), ("ok", "one\ntwo\n", 0))
        equal([a["path"] for a in g.json["artifacts"]], ["f"])
        equal(c.call("get_run", run_id=run).json["stdout"], "one\ntwo\n")
        equal(c.call("cancel_run", run_id=run).json["status"], "ok", "it has ended")
        run = c.call("execute_code", code=FOREVER, background=True).json["run_id"]
        equal(c.call("get_run", run_id=run, wait_s=1).json["status"], "running")
        equal(c.call("cancel_run", run_id=run).json, {"run_id": run, "status": "cancelled"})
        equal(c.call("cancel_run", run_id=run).json, {"run_id": run, "status": "cancelled"})
        run = c.call("execute_code", code=FOREVER, background=True).json["run_id"]
        code, seconds = c.end()
        equal(code, 0)
    equal(wait_for(lambda: record_of(run, "outcome"), "the outcome")[0]["status"], "cancelled")


def leave(how, exit_code):
    c = Client(PLACE)
    c.begin("execute_code", code=FOREVER)
    wait_for(lambda: programs(PLACE), "the program")
    before = len(records("outcome"))
    start = time.monotonic()
    how(c)
    code = c.process.wait(lib.PATIENCE_S)
    seconds = time.monotonic() - start
    c.close()
    if exit_code is not None:
        equal(code, exit_code)
    wait_for(lambda: len(records("outcome")) > before, "the record")
    equal(records("outcome")[-1]["status"], "cancelled")
    wait_for(lambda: not programs(PLACE), "the end of the program")
    return seconds


@case("end of input, SIGTERM, SIGINT, SIGHUP: the run dies, is recorded, we leave soon")
def _():
    took = {"eof": leave(lambda c: c.process.stdin.close(), 0)}
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        took[number.name] = leave(lambda c, number=number: c.process.send_signal(number), 0)
    check(max(took.values()) < 10, took)  # 1.5 s on a quiet machine
    print("     left after %s" % ", ".join("%s %.2f s" % t for t in took.items()))


@case("SIGKILL of the front, and a reader that left: the run dies all the same")
def _():
    leave(lambda c: c.process.kill(), None)
    out, into = os.pipe()
    c = Client(PLACE, initialize=None, stdout=into)
    os.close(into)
    c.request("initialize", {"protocolVersion": "2025-11-25"})
    c.begin("execute_code", code=FOREVER)
    wait_for(lambda: programs(PLACE), "the program")
    os.close(out)
    c.process.wait(lib.PATIENCE_S)
    c.close()
    wait_for(lambda: not programs(PLACE), "the end of the program")


@case("the service ends: calls in flight are answered, the front leaves with 1")
def _():
    with Client(PLACE) as c:
        id_ = c.begin("execute_code", code=FOREVER)
        wait_for(lambda: programs(PLACE), "the program")
        for pid in PLACE.supervisors():
            lib.kill(pid)
        r = Result(c.answer(id_))
        equal((r.is_error, r.json["status"]), (True, "aborted"))
        equal(c.line(), None)
        equal(c.process.wait(lib.PATIENCE_S), 1)
    with Client(PLACE) as c:
        equal(c.call("execute_code", code="print(1)").json["stdout"], "1\n", "a new service")


@case("two fronts at once share a service, and the log verifies")
def _():
    with Client(PLACE) as a, Client(PLACE, initialize=None) as b:
        first = a.begin("execute_code", code="print('a')")
        second = b.request("tools/call", {"name": "execute_code", "arguments": {"code": "print('b')"}, "_meta": {
            **M, META + "clientInfo": {"name": "modern", "version": "9"}, "traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"}})
        equal(Result(a.answer(first)).json["stdout"], "a\n")
        r = Result(b.answer(second))
        equal((r.json["stdout"], r.message["result"]["resultType"]), ("b\n", "complete"))
        claims = record_of(r.json["run_id"], "intent")[0]["claims"]
        equal((claims["client"], claims["version"]), ("modern", "9"))
        check(claims["traceparent"].startswith("00-1111"), claims)
    PLACE.stop()
    done = PLACE.verify()
    check(done.code in (0, 3), done)


main()
