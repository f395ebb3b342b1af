"""JSON-RPC and both eras of MCP, byte by byte, against the real bailiff-mcp.

Run as: python3 test_protocol.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import json
import os

from client import INFO, M, META, Client, code_of, languages, lib, shared_place
from lib import case, check, equal, main, need_programs

need_programs("bailiff-mcp", "bailiff-supervisor", "bailiff-signer", "bailiff-launch")
PLACE = shared_place()
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n'


def fresh():
    return Client(PLACE, initialize=None)


def initialize(client, params, id_=1):
    return client.answer(client.request("initialize", params, id_))


def says(client, data, *codes):
    """These bytes give exactly these error codes without an id, and the server
    goes on."""
    client.raw(data)
    for code in codes:
        message = client.receive()
        equal((code_of(message), "id" in message), (code, False), "answer to %r" % data[:80])
    client.nothing()


@case("initialize agrees on each legacy version, and on our newest for others")
def _():
    for version in LEGACY:
        with Client(PLACE, initialize=version) as c:
            result = c.initialized["result"]
            equal(result["protocolVersion"], version)
            equal(set(result["capabilities"]), {"tools", "resources"})
            equal(result["serverInfo"]["name"], "bailiff")
    for version in ("1999-01-01", "2026-07-28", "x" * 500):
        with Client(PLACE, initialize=version) as c:
            equal(c.initialized["result"]["protocolVersion"], "2025-11-25")


@case("initialize without a version is wrong; twice is wrong and harms nothing")
def _():
    with fresh() as c:
        equal(code_of(initialize(c, None)), -32602)
        equal(code_of(initialize(c, {"protocolVersion": 5})), -32602)
        check("result" in initialize(c, {"protocolVersion": "2025-11-25", "clientInfo": INFO}), "initialize")
        equal(code_of(initialize(c, {"protocolVersion": "2025-11-25"})), -32600)
        check("result" in c.ask("tools/list"), "tools/list before notifications/initialized")


@case("before initialize a ping is answered, and a list says both remedies")
def _():
    with fresh() as c:
        equal(c.ask("ping")["result"], {})
        answer = c.ask("tools/list")
        equal(code_of(answer), -32602)
        check("initialize" in answer["error"]["message"] and "_meta" in answer["error"]["message"], answer)


@case("server/discover needs its _meta and says what is supported")
def _():
    with fresh() as c:
        result = c.ask("server/discover", {"_meta": M})["result"]
        equal(result["resultType"], "complete")
        equal(result["supportedVersions"], ["2026-07-28"])
        check(result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private"), result)
        equal(result["_meta"][META + "serverInfo"]["name"], "bailiff")
        for params in (None, {}, {"_meta": {}}, {"_meta": {META + "protocolVersion": "2026-07-28"}},
                       {"_meta": {META + "clientCapabilities": {}}},
                       {"_meta": {META + "protocolVersion": 5, META + "clientCapabilities": {}}},
                       {"_meta": []}, {"_meta": "x"}):
            equal(code_of(c.ask("server/discover", params)), -32602, "discover with %r" % params)


@case("a modern request is served first, without discover and without clientInfo")
def _():
    with fresh() as c:
        result = c.ask("tools/list", {"_meta": M})["result"]
        equal(result["resultType"], "complete")
        check(len(result["tools"]) == 8 and "ttlMs" in result, result)


@case("an unknown modern version is refused each time, with what is supported")
def _():
    with fresh() as c:
        for _ in range(20):
            check("result" in c.ask("tools/list", {"_meta": M}), "a good one")
        for method in ("tools/list", "server/discover"):
            error = c.ask(method, {"_meta": {**M, META + "protocolVersion": "1900-01-01"}})["error"]
            equal(error["code"], -32022)
            equal(error["data"], {"supported": ["2026-07-28"], "requested": "1900-01-01"})


@case("what the modern era has no more is not found there")
def _():
    with fresh() as c:
        for method in ("ping", "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
            equal(code_of(c.ask(method, {"_meta": M, "protocolVersion": "2025-11-25"})), -32601, method)


@case("both eras alternate on one pipe, each answered in its own way")
def _():
    with fresh() as c:
        check("result" in c.ask("server/discover", {"_meta": M}), "discover")
        check("result" in initialize(c, {"protocolVersion": "2025-11-25"}), "initialize")
        for method, params in (("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {}),
                               ("resources/read", {"uri": "sandbox://languages"}),
                               ("tools/call", {"name": "get_policy", "arguments": {}})):
            legacy = c.ask(method, params)["result"]
            check(not {"resultType", "ttlMs", "cacheScope"} & set(legacy), "legacy %s: %r" % (method, legacy))
            modern = c.ask(method, {**params, "_meta": M})["result"]
            equal(modern["resultType"], "complete", method)
            equal("ttlMs" in modern, method != "tools/call", method)
            check(META + "serverInfo" in modern["_meta"], method)


@case("malformed JSON, bad UTF-8, a byte order mark and depth are parse errors")
def _():
    with Client(PLACE) as c:
        says(c, b'{"jsonrpc":"2.0","id":1,\n', -32700)
        says(c, b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xff"}}\n', -32700)
        says(c, b'\xef\xbb\xbf' + PING, -32700)
        says(c, b"[" * 10000 + b"\n", -32700)
        says(c, b'{"a":' * 10000 + b"1" + b"}" * 10000 + b"\n", -32700)
        says(c, b"\0\n", -32700)
        says(c, b'{"jsonrpc":"2.0","id":1,"method":"ping"} x\n', -32700)


@case("what is no request object is invalid")
def _():
    with Client(PLACE) as c:
        for data in (b"42", b'"x"', b"null", b"true", b"{}", b"[]", b"[%s]" % PING.strip()):
            says(c, data + b"\n", -32600)
        for id_ in (b"null", b"1.5", b"true", b"{}", b"[]", b"1e3"):
            says(c, b'{"jsonrpc":"2.0","id":' + id_ + b',"method":"ping"}\n', -32600)
        says(c, b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n', -32600)
        says(c, b'{"jsonrpc":"2.0","id":1,"i\\u0064":2,"method":"ping"}\n', -32600)
        for body in ('"jsonrpc":"1.0","method":"ping"', '"method":"ping"', '"jsonrpc":"2.0","method":5',
                     '"jsonrpc":2.0,"method":"ping"', '"jsonrpc":"2.0"'):
            c.raw(('{"id":9,%s}\n' % body).encode())
            message = c.receive()
            equal((message["id"], code_of(message)), (9, -32600), body)


@case("batches belong to 2025-03-26: one line of answers, or silence")
def _():
    ping2, ping3 = ({"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (2, 3))
    note = {"jsonrpc": "2.0", "method": "notifications/x"}
    with Client(PLACE, initialize="2025-03-26") as c:
        c.send([ping2, note, ping3])
        equal(sorted(m["id"] for m in c.receive()), [2, 3])
        c.send([note, note])
        c.nothing()
        says(c, b"[]\n", -32600)
        c.send([ping2, 5, {"jsonrpc": "2.0", "id": 4, "method": "tools/call",
                           "params": {"name": "execute_code", "arguments": {"code": "print(6)"}}}])
        answers = c.receive()
        equal(len(answers), 3)
        check(any(m.get("id") == 4 and '"stdout": "6' in m["result"]["content"][0]["text"] for m in answers), answers)
        c.send([{"jsonrpc": "2.0", "id": 8, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}])
        equal(code_of(c.receive()[0]), -32600)
    with Client(PLACE, initialize="2025-06-18") as c:
        says(c, json.dumps([ping2]).encode() + b"\n", -32600)


@case("ids come back byte for byte")
def _():
    with Client(PLACE) as c:
        for id_ in (b'"a\\u0000b"', b'""', b'"' + b"x" * 65536 + b'"', b"-1", b"9007199254740993", b"0", b"-0",
                    b'"\\ud83d\\ude00"', b'"\\/"', '"\u00e9"'.encode()):
            c.raw(b'{"jsonrpc":"2.0","id":' + id_ + b',"method":"ping"}\n')
            line = c.line()
            check(b'"id":' + id_ + b"," in line, "id %r in %r" % (id_[:60], line[:120]))


@case("parameters of a wrong type, unknown methods and tools have their codes")
def _():
    with Client(PLACE) as c:
        for params in ([], "x", 5):
            equal(code_of(c.ask("ping", params)), -32602, params)
        equal(code_of(c.ask("no/such")), -32601)
        equal(code_of(c.ask("x" * 1000)), -32601)
        for method in ("prompts/list", "completion/complete", "logging/setLevel", "resources/subscribe"):
            equal(code_of(c.ask(method, {})), -32601, method)
        error = c.ask("tools/call", {"name": "nope\u202e\"x"})["error"]
        equal(error["code"], -32602)
        check(error["message"].startswith("Unknown tool: nope"), error)
        for params in ({}, {"name": 5}, {"name": "get_policy", "arguments": []}, {"name": "x" * 200}):
            equal(code_of(c.ask("tools/call", params)), -32602, params)


@case("notifications, responses and blank lines are met with silence")
def _():
    with Client(PLACE) as c:
        for data in (b'{"jsonrpc":"2.0","method":"foo/bar"}', b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}',
                     b'{"jsonrpc":"2.0","method":"ping"}', b'{"jsonrpc":"2.0","id":9,"result":{}}',
                     b'{"jsonrpc":"2.0","id":"9","error":{"code":1,"message":"x"}}', b"", b"   ", b"\r"):
            c.raw(data + b"\n")
        c.nothing()
        c.raw(PING.replace(b"\n", b"\r\n"))
        equal(c.receive(), {"jsonrpc": "2.0", "id": 7, "result": {}})


@case("200 requests in one write and one request byte by byte are all answered")
def _():
    with Client(PLACE) as c:
        c.raw(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % n for n in range(200)))
        equal([c.receive()["id"] for _ in range(200)], list(range(200)))
        for i in range(len(PING)):
            c.raw(PING[i:i + 1])
        equal(c.receive()["id"], 7)


@case("a line of 64 MiB costs bounded memory and one error")
def _():
    with Client(PLACE) as c:
        c.nothing()
        block = b"x" * (1 << 20)
        for _ in range(64):
            c.raw(block)
        says(c, b"\n", -32600)
        lines = open("/proc/%d/status" % c.process.pid).read().splitlines()
        peak = [int(l.split()[1]) for l in lines if l.startswith("VmHWM")]
        check(peak[0] < 40 << 10, "peak memory %d KiB" % peak[0])


@case("the list of tools is the same bytes each time and fit for any client")
def _():
    seen = set()
    for _ in range(2):
        with Client(PLACE) as c:
            c.request("tools/list", {}, 5)
            line = c.line()
            seen.add(line)
    equal(len(seen), 1, "different lists")
    tools = json.loads(line)["result"]["tools"]
    equal([t["name"] for t in tools],
          ["execute_code", "get_supported_languages", "get_language_details", "get_run", "cancel_run", "list_files",
           "read_file", "get_policy"])
    for t in tools:
        schema = t["inputSchema"]
        equal((schema["type"], schema["additionalProperties"]), ("object", False))
        equal(set(t["annotations"]), {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
        check(not (t["annotations"]["readOnlyHint"] and t["annotations"]["destructiveHint"]), t["name"])
        check(len(t["description"]) <= 600 and t["description"].isascii(), t["name"])
        for name, value in schema["properties"].items():
            check(value["description"].isascii(), "%s.%s has a description" % (t["name"], name))
    check(line.isascii(), "ASCII only")
    for word in (b"IMPORTANT", b"always", b"ignore", b"must", b"http", b"</"):
        check(word not in line, "%r in the list of tools" % word)


@case("cursors are unknown, lists are one page")
def _():
    with Client(PLACE) as c:
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            equal(code_of(c.ask(method, {"cursor": "x"})), -32602, method)


@case("listening is acknowledged first and ends in silence")
def _():
    with fresh() as c:
        params = {"_meta": M, "notifications": {"toolsListChanged": True, "resourceSubscriptions": ["x"]}}
        id_ = c.request("subscriptions/listen", params)
        first = c.receive()
        equal(first["method"], "notifications/subscriptions/acknowledged")
        equal(first["params"]["_meta"][META + "subscriptionId"], id_)
        c.notify("notifications/cancelled", {"requestId": id_, "_meta": M})
        check("result" in c.ask("tools/list", {"_meta": M}), "goes on")
        equal(c.stashed, [])
        c.request("subscriptions/listen", params)
        c.receive()
        code, seconds = c.end()
        equal(code, 0)
        check(seconds < 1, "%f s" % seconds)


@case("an unterminated last line is no message; the end of input is a good end")
def _():
    before = len(PLACE.records())
    with Client(PLACE) as c:
        c.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":'
              b'{"code":"print(1)"}}}')
        code, _ = c.end()
        equal((code, c.line()), (0, None))
    equal(len(PLACE.records()), before, "records")


@case("only what a client passes on is needed, in any directory")
def _():
    with Client(PLACE, env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}, cwd="/") as c:
        equal(c.call("get_supported_languages").json, languages())


@case("a closed standard error does no harm")
def _():
    words = ["/bin/bash", "-c", 'exec "$@" 2>&-', "x"] + PLACE.words("mcp")
    with Client(None, *words) as c:
        equal(c.call("get_supported_languages").json, languages())


@case("a full standard error does no harm")
def _():
    with open("/dev/full", "wb") as full, Client(PLACE, stderr=full) as c:
        equal(c.call("get_supported_languages").json, languages())
        equal(c.end()[0], 0)
    out, into = os.pipe()
    os.set_blocking(into, False)
    try:
        while True:
            os.write(into, b"x" * 65536)
    except BlockingIOError:
        os.set_blocking(into, True)
    with Client(PLACE, stderr=into) as c:
        c.raw(b"{\n")
        equal(code_of(c.receive()), -32700)
        equal(c.end()[0], 0)
    os.close(out)
    os.close(into)


@case("before it reads, the front can open, start and signal nothing")
def _():
    with Client(PLACE) as c:
        status = lib.status(c.process.pid)
        equal((status["Seccomp"], status["NoNewPrivs"], status["CapEff"], status["CapPrm"]),
              ("2", "1", "0" * 16, "0" * 16))
        fds = os.listdir("/proc/%d/fd" % c.process.pid)
        check(len(fds) <= 6, "descriptors %r" % fds)
        equal(open("/proc/%d/environ" % c.process.pid).read(), "")


main()
