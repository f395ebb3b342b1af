"""`bailiff run` from end to end: what works, what it refuses, how it ends.

Run as: python3 test_run.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import base64
import hashlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from lib import (PATIENCE_S, UNTRACED, Place, call, case, check, equal, main,
                 need_programs, need_root, one_line, read, recorded, wait_for)
from watch import Watch

RUN_ID = re.compile(r"^r_[0-9a-f]{32}$")
LEAF = re.compile(r"^[0-9a-f]{64}$")


@case("a python file prints, and its exit code is 0")
def _():
    p = Place()
    r = p.run(p.write("hello.py", "print('hello', 6 * 7)\n"))
    equal((r.code, r.out, r.err), (0, b"hello 42\n", b""), "end")


@case("a bash file, bash code and code on standard input run")
def _():
    p = Place()
    equal(p.run(p.write("a.sh", "echo one\n")).out, b"one\n", "file")
    equal(p.bash("echo two").out, b"two\n", "-c")
    r = p.run("--lang", "bash", "-", stdin=b"echo three\ncat\n")
    equal((r.code, r.out), (0, b"three\n"), "code on stdin, empty stdin")


@case("the language follows from a #! line, and --lang beats the extension")
def _():
    p = Place()
    r = p.run(p.write("noext", "#!/usr/bin/env python3\nprint(1)\n"))
    equal(r.out, b"1\n", "env")
    r = p.run(p.write("noext2", "#!/bin/bash -e\necho $0\n"))
    check(r.code == 0 and b"/sandbox/" in r.out, "bash: %r" % r)
    r = p.run("--lang", "bash", p.write("odd.py", "echo bash\n"))
    equal(r.out, b"bash\n", "--lang")


@case("without a language it says --lang and exits 2")
def _():
    p = Place()
    r = p.run(p.write("noext", "print(1)\n"))
    equal(r.code, 2, "exit")
    one_line(r, "--lang")
    equal(p.run("-c", "print(1)").code, 2, "-c")


@case("arguments arrive unchanged, odd bytes too")
def _():
    p = Place()
    args = ["", "a b", "--json", "*", "\u00e9", "x" * 4000, "--"]
    code = "import sys,json;print(json.dumps(sys.argv[1:]))"
    r = p.json("--lang", "python", "-c", code, "--", *args).json
    equal(json.loads(r["stdout"]), args, "arguments")
    recorded(p, r)
    r = p.bash('printf %s "$1" | od -An -tx1', "--", b"\xff\xfe\n")
    equal(r.out.split(), [b"ff", b"fe", b"0a"], "bytes")


@case("standard input arrives whole; --no-stdin and no stdin are empty")
def _():
    p = Place()
    data = bytes(range(256)) * 4096
    code = ("import sys,hashlib;d=sys.stdin.buffer.read();"
            "print(len(d),hashlib.sha256(d).hexdigest())")
    want = "%d %s\n" % (len(data), hashlib.sha256(data).hexdigest())
    equal(p.python(code, stdin=data).out.decode(), want, "1 MiB")
    empty = "0 %s\n" % hashlib.sha256(b"").hexdigest()
    equal(p.python(code, "--no-stdin", stdin=data).out.decode(), empty,
          "--no-stdin")
    equal(p.python(code, stdin=None).out.decode(), empty, "/dev/null")
    words = " ".join("'%s'" % w for w in p.words(
        "run", "--lang", "python", "-c", code))
    closed = call(["/bin/bash", "-c", words + " <&-"])
    equal((closed.code, closed.out.decode()), (0, empty), "closed")


@case("a terminal as standard input is empty for the program")
def _():
    p = Place()
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            p.words("run", "--lang", "bash", "-c", "cat; echo end"),
            stdin=slave, stdout=subprocess.PIPE, timeout=PATIENCE_S,
            check=False)
    finally:
        os.close(master)
        os.close(slave)
    equal((done.returncode, done.stdout), (0, b"end\n"), "end")


@case("exit codes and signals of the program are its own")
def _():
    p = Place()
    for code in (0, 1, 3, 124, 255):
        equal(p.bash("exit %d" % code).code, code, "exit %d" % code)
    equal(p.bash("kill -TERM $$").code, 128 + 15, "SIGTERM")
    r = p.python("import os,signal;os.kill(os.getpid(),signal.SIGSEGV)")
    equal(r.code, 128 + 11, "SIGSEGV")
    r = p.json("--lang", "bash", "-c", "kill -TERM $$")
    equal((r.json["status"], r.json["exit_code"], r.json["signal"]),
          ("error", None, 15), "by signal")


@case("both streams pass byte for byte and apart")
def _():
    p = Place()
    code = ("import sys;b=bytes(range(256));sys.stdout.buffer.write(b*100);"
            "sys.stderr.buffer.write(b[::-1]*100)")
    r = p.python(code)
    b = bytes(range(256))
    check(r.out == b * 100 and r.err == b[::-1] * 100, "bytes differ")


@case("output streams through as it comes")
def _():
    p = Place()
    started = p.start("--lang", "bash", "-c", "echo first; sleep 1000")
    ready, _, _ = select.select([started.stdout], [], [], PATIENCE_S)
    check(ready, "nothing came while the program slept")
    equal(os.read(started.stdout.fileno(), 100), b"first\n", "first")
    started.send_signal(signal.SIGINT)
    equal(started.wait(PATIENCE_S), 130, "exit")


@case("Ctrl-C cancels at once, exits 130, and the record says cancelled")
def _():
    p = Place()
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        started = p.start("--lang", "bash", "-c", "echo up; sleep 1000")
        os.read(started.stdout.fileno(), 10)
        begin = time.monotonic()
        started.send_signal(number)
        equal(started.wait(PATIENCE_S), code, "exit")
        check(time.monotonic() - begin < 30, "took long")
        last = p.records()[-1]
        equal((last["type"], last["status"], last["killed_by"]),
              ("outcome", "cancelled", "client"), "record")


@case("a client killed in mid-run cancels its run")
def _():
    p = Place()
    started = p.start("--lang", "bash", "-c", "echo up; sleep 1000")
    os.read(started.stdout.fileno(), 10)
    started.kill()
    started.wait()
    wait_for(lambda: p.records()[-1]["type"] == "outcome", "the outcome")
    last = p.records()[-1]
    equal((last["status"], last["killed_by"]), ("cancelled", "client"),
          "record")


@case("a reader that leaves cancels the run, exit 141")
def _():
    p = Place()
    words = " ".join("'%s'" % w for w in p.words(
        "run", "--lang", "bash", "-c", "yes"))
    r = call(["/bin/bash", "-c",
              "set -o pipefail; %s | head -1; echo ${PIPESTATUS[0]} >&2"
              % words])
    equal((r.out, r.err), (b"y\n", b"141\n"), "end")


@case("a full disk behind standard output is said, not ignored")
def _():
    p = Place()
    with open("/dev/full", "w") as full:
        done = subprocess.run(p.words("run", "--lang", "bash", "-c", "echo x"),
                              stdout=full, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, check=False,
                              timeout=PATIENCE_S)
    equal(done.returncode, 125, "exit")
    check(b"No space left" in done.stderr, "no reason: %r" % done.stderr)


@case("the wall limit ends a run: exit 124, status timeout")
def _():
    p = Place()
    r = p.bash("echo before; sleep 1000", "--timeout", "1")
    equal((r.code, r.out), (124, b"before\n"), "end")
    one_line(r, "timeout", "wall", "run r_", "record")
    j = p.json("--timeout", "0.5", "--lang", "bash", "-c",
               "trap '' TERM INT; while :; do sleep 1; done").json
    equal((j["status"], j["killed_by"], j["phase"]),
          ("timeout", "wall", "run"), "json")


@case("the cpu limit ends a run that spins")
def _():
    p = Place(limits={"cpu_ms": {"default": 500, "max": 1000}})
    j = p.json("--lang", "bash", "-c", "while :; do :; done").json
    equal((j["status"], j["killed_by"]), ("timeout", "cpu"), "end")


@case("the memory limit ends a run: exit 137, status memory")
def _():
    p = Place()
    r = p.python("a=[bytearray(1<<20) for i in range(4096)]", "--memory",
                 "64")
    equal(r.code, 137, "exit (%r)" % r.err)
    j = p.json("--memory", "64", "--lang", "python", "-c",
               "a=[bytearray(1<<20) for i in range(4096)]").json
    equal((j["status"], j["killed_by"]), ("memory", "memory"), "json")


@case("a fork bomb is contained and the next run works")
def _():
    p = Place(limits={"pids": {"default": 32, "max": 32}})
    recorded(p, p.json("--lang", "bash", "--timeout", "3", "-c", "f() { f | f & }; f; wait").json)
    equal(p.bash("echo fine").out, b"fine\n", "next run")


@case("output beyond the head is counted, hashed, and its tail is kept")
def _():
    p = Place(limits={"stdout": {"default": 1000, "max": 1000}})
    data = b"".join(b"%06d\n" % i for i in range(20000))
    code = "for i in range(20000): print('%06d' % i)"
    j = p.json("--lang", "python", "-c", code).json
    equal(j["stdout"].encode(), data[:1000], "head")
    equal((j["stdout_truncated"], j["stdout_total"]), (True, len(data)),
          "truncation")
    folder = j["result_folder"]
    equal(read(folder + "/stdout"), data[:1000], "file of the head")
    tail = read(folder + "/stdout.tail")
    check(len(tail) > 0 and data.endswith(tail), "tail")
    outcome = p.records()[-1]
    equal(outcome["stdout"]["total_sha256"],
          hashlib.sha256(data).hexdigest(), "digest of all")
    equal(outcome["stdout"]["sha256"],
          hashlib.sha256(data[:1000]).hexdigest(), "digest of the head")
    r = p.python(code)
    equal(r.out, data[:1000], "streamed head")
    one_line(r, "standard output", "1000 of %d bytes" % len(data), "stdout",
             "run r_")


@case("a flood of output is killed at its limit")
def _():
    p = Place(limits={"output": {"default": 1 << 20, "max": 1 << 20}})
    j = p.json("--lang", "bash", "-c", "yes").json
    equal((j["status"], j["killed_by"]), ("killed", "output"), "end")
    check(j["stdout_total"] >= 1 << 20, "total %d" % j["stdout_total"])


KEYS = {"run_id", "decision", "status", "phase", "killed_by", "exit_code",
        "signal", "failed", "stdout", "stderr", "stdout_truncated",
        "stderr_truncated", "stdout_total", "stderr_total", "stdout_sha256",
        "stderr_sha256", "use", "timing", "degraded", "result_folder",
        "audit", "intent", "log", "error"}


@case("--json has every member, of a run and of a denial")
def _():
    p = Place()
    r = p.json("--lang", "python", "-c",
               "import sys;print('\\u00e9\"');print('e',file=sys.stderr)")
    j = r.json
    equal(set(j), KEYS, "members")
    equal((r.code, r.err, r.out.count(b"\n")), (0, b"", 1), "one object")
    equal((j["status"], j["phase"], j["killed_by"], j["exit_code"],
           j["signal"], j["failed"], j["error"]),
          ("ok", "run", None, 0, None, None, None), "end")
    equal((j["stdout"], j["stderr"]), ('\u00e9"\n', "e\n"), "output")
    equal(j["stdout_sha256"], hashlib.sha256('\u00e9"\n'.encode())
          .hexdigest(), "digest")
    check(RUN_ID.match(j["run_id"]), j["run_id"])
    check(j["decision"]["allow"] is True and
          "language.python" in j["decision"]["rules"] and
          j["decision"]["reasons"] == [], "decision %r" % j["decision"])
    for name in ("audit", "intent"):
        check(LEAF.match(j[name]["leaf"]), name)
    check(j["audit"]["seq"] > j["intent"]["seq"], "outcome after intent")
    for name in ("cpu_us", "wall_us", "memory_peak", "pids_peak"):
        check(j["use"][name] > 0, "use.%s" % name)
    equal(j["result_folder"],
          os.path.join(p.state, "results", j["run_id"]), "folder")
    equal(set(p.json("--lang", "klingon", "-c", "x").json), KEYS, "denial")


@case("bytes that are no UTF-8 come as base64, unchanged")
def _():
    p = Place()
    j = p.json("--lang", "python", "-c",
               "import sys;sys.stdout.buffer.write(bytes(range(256)))").json
    equal(j["stdout"], None, "stdout")
    equal(base64.b64decode(j["stdout_base64"]), bytes(range(256)), "bytes")
    equal(j["stderr"], "", "stderr")


@case("a denial exits 126, says why in a line, and is recorded")
def _():
    p = Place()
    r = p.run("--lang", "klingon", "-c", "x")
    equal((r.code, r.out), (126, b""), "end")
    one_line(r, "denied: language.not_allowed", "run r_", "log record ")
    j = p.json("--timeout", "999999", "--lang", "python", "-c", "1").json
    equal((j["status"], j["decision"]["allow"]), ("denied", False), "json")
    check("limit.wall.above_max" in j["decision"]["reasons"], "reason")
    last = p.records()[-1]
    equal((last["type"], last["req"], last["seq"], last["reasons"]),
          ("denial", j["run_id"], j["audit"]["seq"],
           ["limit.wall.above_max"]), "record")
    check(not os.path.exists(os.path.join(p.state, "results", j["run_id"])),
          "a denial left a result folder")


@case("--file gives a file of an allowed root, under its name")
def _():
    p = Place()
    os.mkdir(p.path("data"))
    policy = p.write_policy("p.json", paths={"read": [p.path("data")]})
    p.write("data/in.csv", "a,b\n1,2\n")
    r = p.python("print(open('in.csv').read())", "--file",
                 p.path("data", "in.csv"), policy=policy)
    equal((r.code, r.out), (0, b"a,b\n1,2\n\n"), "own name")
    r = p.run("--lang", "bash", "-c", "cat /sandbox/other", "--file",
              "data/in.csv:other", policy=policy, cwd=p.dir)
    equal((r.code, r.out), (0, b"a,b\n1,2\n"), "relative, renamed")
    r = p.bash("echo x > in.csv; cat in.csv", "--file",
               p.path("data", "in.csv"), policy=policy)
    equal(read(p.path("data", "in.csv")), b"a,b\n1,2\n", "host file")


@case("a file outside the roots is denied, and the host file is not opened")
def _():
    p = Place()
    os.mkdir(p.path("data"))
    policy = p.write_policy("p.json", paths={"read": [p.path("data")]})
    secret = p.write("secret", "secret")
    watch = Watch(secret)
    for path, reason in ((secret, "path.outside_root"),
                         (p.path("data/../secret"), "path.traversal")):
        r = p.bash("cat secret", "--file", path, policy=policy)
        equal((r.code, r.out), (126, b""), path)
        one_line(r, reason)
        equal(p.records()[-1]["type"], "denial", "record")
    check(watch.quiet(), "the host file was opened or read")


@case("artifacts are kept, listed and printed")
def _():
    p = Place()
    j = p.json("--lang", "python", "-c",
               "import os;os.mkdir('d');open('d/a b','w').write('x');"
               "open('plot.png','wb').write(bytes(range(256)));"
               "os.symlink('/etc/passwd','link')").json
    equal((j["use"]["files"], j["use"]["file_bytes"]), (2, 257), "counts")
    folder = j["result_folder"]
    equal(sorted(os.listdir(folder)),
          ["MANIFEST", "code.py", "files", "record.dsse.json",
           "record.tlog-proof", "result.json", "stderr", "stdout"] +
          ([] if UNTRACED else ["trace.jsonl"]), "folder")
    listed = p.result(j["run_id"])
    equal(listed.code, 0, "exit")
    names = [line.split() for line in listed.out.decode().splitlines()]
    check(["1", "files/d/a%20b", "text/plain"] in names and
          ["256", "files/plot.png", "application/octet-stream"] in names,
          "names %r" % names)
    r = p.result(j["run_id"], "files/plot.png")
    equal((r.code, r.out), (0, bytes(range(256))), "content")
    as_json = json.loads(p.result("--json", j["run_id"]).out)
    check({"name": "files/d/a%20b", "size": 1, "type": "text/plain",
           "plot": False} in as_json["files"], "json")


@case("result says what it does not have, and exits 1")
def _():
    p = Place()
    j = p.json("--lang", "bash", "-c", "echo hi").json
    for words in (["r_" + "0" * 32], [j["run_id"], "files/none"],
                  [j["run_id"], "../../../etc/passwd"],
                  [j["run_id"], "files/../stdout"], ["../" + j["run_id"]]):
        r = p.result(*words)
        check(r.code in (1, 2) and r.out == b"", "%r: %r" % (words, r))
        one_line(r)
    equal(p.result(j["run_id"], "stdout").out, b"hi\n", "stdout")


@case("--out writes artifacts as the caller and replaces nothing")
def _():
    p = Place()
    code = ("import os;os.makedirs('a/b');open('a/b/c','w').write('one');"
            "open('top','w').write('two');open(b'odd\\xff\\n','w').write('3')")
    r = p.python(code, "--out", p.path("out"))
    equal((r.code, r.err), (0, b""), "end")
    equal(read(p.path("out/a/b/c")), b"one", "nested")
    equal(read(p.path("out/top")), b"two", "top")
    equal(read(os.fsencode(p.path("out")) + b"/odd\xff\n"), b"3", "odd name")
    p.write("out2/top", "mine")
    os.symlink(p.path("elsewhere"), p.path("out2/a"))
    os.mkdir(p.path("elsewhere"))
    r = p.python(code, "--out", p.path("out2"))
    equal(r.code, 125, "exit")
    check(b"top" in r.err and b"a/b/c" in r.err, "named: %r" % r.err)
    equal(read(p.path("out2/top")), b"mine", "existing file")
    equal(os.listdir(p.path("elsewhere")), [], "through a link")


@case("an --out that cannot be is refused before anything runs")
def _():
    p = Place()
    r = p.bash("echo ran", "--out", p.write("plain", ""))
    equal((r.code, r.out), (125, b""), "a file")
    one_line(r, "--out")
    equal(p.bash("echo", "--out", p.path("no/such")).code, 125, "no parent")


@case("on a terminal output is escaped, with --raw it is not")
def _():
    p = Place()
    for words, want in (([], b"\\x1b[31m\t\xc3\xa9\\x0d\r\n"),
                        (["--raw"], b"\x1b[31m\t\xc3\xa9\r\r\n")):
        master, slave = pty.openpty()
        started = subprocess.Popen(
            p.words("run", "--lang", "bash", *words, "-c",
                    "printf '\\033[31m\\t\\303\\251\\r\\n'"),
            stdin=subprocess.DEVNULL, stdout=slave)
        equal(started.wait(PATIENCE_S), 0, "exit")
        os.close(slave)
        equal(os.read(master, 1000), want, "terminal")
        os.close(master)


@case("hostile output in errors of ours is escaped")
def _():
    p = Place()
    r = p.run("/no/\x1b[31mred\n.py")
    equal(r.code, 125, "exit")
    one_line(r, "\\x1b[31mred\\x0a.py")


@case("the label is recorded as a claim")
def _():
    p = Place()
    p.bash("true", "--label", "build 7/\u00e9")
    intent = [x for x in p.records() if x["type"] == "intent"][-1]
    equal(intent["claims"]["label"], "build%207/%C3%A9", "label")
    equal(intent["claims"]["client"], "bailiff-run", "client")
    equal(intent["principal"]["uid"], os.getuid(), "principal")


@case("the environment is the language's, not the caller's")
def _():
    p = Place()
    r = p.bash("env | sort", env=dict(os.environ, SECRET_TOKEN="s3cret"))
    check(r.code == 0 and b"SECRET" not in r.out and b"s3cret" not in r.out,
          "leaked: %r" % r.out)
    check(b"HOME=/sandbox\n" in r.out, "HOME: %r" % r.out)


@case("fifty runs in a row leave the service's descriptors flat")
def _():
    p = Place()
    p.bash("true")
    pids = p.supervisors() + p.launchers() + p.signers()
    equal(len(pids), 3, "service processes")
    before = [len(os.listdir("/proc/%d/fd" % pid)) for pid in pids]
    for i in range(50):
        equal(p.bash("echo %d" % i).out, b"%d\n" % i, "run")
    # A reply goes out before the last descriptors are closed.
    wait_for(lambda: [len(os.listdir("/proc/%d/fd" % pid))
                      for pid in pids] == before, "descriptors: %r" % before,
             20)


@case("a file behind a pipe runs, a device does not")
def _():
    p = Place()
    words = " ".join("'%s'" % w for w in p.words("run", "--lang", "bash"))
    r = call(["/bin/bash", "-c", words + " <(echo echo piped)"])
    equal((r.code, r.out), (0, b"piped\n"), "pipe")
    r = p.run("--lang", "bash", "/dev/zero")
    equal(r.code, 125, "device")
    one_line(r, "is a device")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-opener", "bailiff-collect")
    main()
