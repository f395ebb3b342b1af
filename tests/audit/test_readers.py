"""`bailiff audit prove`, `check`, `checkpoint`, `diff` and `export` over the golden log and bent copies of it.

Run as: python3 test_readers.py BUILD_DIR SOURCE_DIR.  Receipts are also judged by Go's x/mod/sumdb where it is installed.
"""
import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import signer_harness  # noqa: E402
import vectors  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1]) + "/libexec/bailiff/bailiff-audit"
TOP = tempfile.mkdtemp(prefix="bailiff-readers-")
GOLDEN = vectors.golden()
KEY = GOLDEN["vkey"].decode().strip()
LINES = GOLDEN["log.jsonl"].splitlines(keepends=True)
FAULTS = []


def check(good, what):
    print(("ok    " if good else "FAIL  ") + what, flush=True)
    if not good:
        FAULTS.append(what)


def run(*words):
    return subprocess.run([PROGRAM, *words], cwd=TOP, env={"HOME": TOP}, capture_output=True, timeout=60, check=False)


def put(name, data):
    path = os.path.join(TOP, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def lay(name, log, checkpoint=GOLDEN["checkpoint"]):
    """A log folder of its own; without a key beside it."""
    os.makedirs(f"{TOP}/{name}/log", exist_ok=True)
    put(f"{name}/log/000000.jsonl", log)
    if checkpoint is not None:
        put(f"{name}/checkpoint", checkpoint)
    return name


def one_line(done):
    return done.stdout == b"" and done.stderr.startswith(b"bailiff: ") and done.stderr.count(b"\n") == 1


def prove():
    lay("a", GOLDEN["log.jsonl"])
    put("vkey", GOLDEN["vkey"])
    go = signer_harness.go_checker() if shutil.which("go") else None
    good = True
    for seq, line in enumerate(LINES):
        done = run("prove", "a", "--seq", str(seq), "--key", KEY)
        put("proof", done.stdout)
        put("record", line)
        good &= done.returncode == 0 and done.stderr == b""
        done = run("check", "proof", "--record", "record", "--key", KEY)
        good &= done.returncode == 0 and done.stdout.startswith(b"PROVEN: record %d, " % seq)
        if go:
            put("line", line[:-1])
            judged = subprocess.run([go, "a", "vkey", "proof", "line"], cwd=TOP, capture_output=True, timeout=60,
                                    check=False)
            good &= judged.returncode == 0
    check(good, "a receipt of every record is written, and holds" + (", for Go too" if go else ""))
    if not go:
        print("skip  receipts judged by Go: golang-go is not installed")
    req = json.loads(LINES[2])["stmt"]["predicate"]["req"]
    put("proof", run("prove", "a", "--req", req, "--key", KEY).stdout)
    put("record", LINES[2])
    check(run("check", "proof", "--record", "record", "--key", KEY).returncode == 0, "a run is proven by its outcome")
    put("record", GOLDEN["outcome.dsse.json"])
    check(run("check", "proof", "--record", "record", "--key", KEY).returncode == 0, "an envelope is a record too")
    put("proof", GOLDEN["outcome.tlog-proof"])
    check(run("check", "proof", "--record", "record", "--key", KEY).returncode == 0, "a receipt of a result holds")
    for words in (["--seq", "10"], ["--req", "r_" + "0" * 32], [], ["--seq", "1", "--req", req], ["--seq", "-1"]):
        done = run("prove", "a", *words, "--key", KEY)
        check(done.returncode == 2 and one_line(done), f"prove {' '.join(words)}: exit 2, one line, no receipt")
    done = run("prove", "a", "--seq", "1")
    check(done.returncode == 2 and b"no key to trust" in done.stderr, "without a key nothing is proven")


def no_false_receipt():
    """What is bent proves nothing."""
    bent = bytearray(GOLDEN["log.jsonl"])
    at = bent.index(b"monthly")
    bent[at] ^= 1
    done = run("prove", lay("bent", bytes(bent)), "--seq", "5", "--key", KEY)
    check(done.returncode == 1 and one_line(done), "a log that does not lead to its checkpoint proves no record")
    done = run("prove", lay("short", b"".join(LINES[:9])), "--seq", "5", "--key", KEY)
    check(done.returncode == 1 and one_line(done), "nor does one that ends before its checkpoint")
    done = run("prove", lay("headless", GOLDEN["log.jsonl"], None), "--seq", "5", "--key", KEY)
    check(done.returncode == 2 and one_line(done), "nor one without a checkpoint")
    proof = run("prove", "a", "--seq", "4", "--key", KEY).stdout
    put("record", LINES[4])
    accepted = []
    # Behind the log's own signature other lines of signatures may stand.
    end = proof.index(b"\n", proof.index("\u2014".encode())) + 1
    put("proof", proof[:end])
    check(run("check", "proof", "--record", "record", "--key", KEY).returncode == 0, "one signature is enough")
    for i in range(0, end):
        changed = bytearray(proof[:end])
        changed[i] ^= 1
        put("proof", bytes(changed))
        done = run("check", "proof", "--record", "record", "--key", KEY)
        if done.returncode != 1 or not one_line(done):
            accepted.append(i)
    check(not accepted, f"a receipt with one byte changed proves nothing: {accepted}")
    put("proof", proof)
    for i, other in enumerate(LINES):
        put("record", other)
        if i != 4 and run("check", "proof", "--record", "record", "--key", KEY).returncode != 1:
            accepted.append(i)
    rng = random.Random(4)
    for i in rng.sample(range(len(LINES[4]) - 1), 200):
        changed = bytearray(LINES[4])
        changed[i] ^= 1 << rng.randrange(7)
        put("record", bytes(changed))
        if run("check", "proof", "--record", "record", "--key", KEY).returncode != 1:
            accepted.append(-i)
    check(not accepted, f"nor does it prove another record, or this one changed: {accepted}")
    envelope = GOLDEN["outcome.dsse.json"]
    put("proof", GOLDEN["outcome.tlog-proof"])
    for i, changed in enumerate((envelope[:-1], envelope + b" ", envelope.replace(b'"payload"', b'"payload" '),
                                 envelope.replace(b"in-toto", b"in-tot0"), envelope.replace(b'"sig": "', b'"sig": "A'),
                                 b"", b"{}\n", b'{"payload": "', os.urandom(64))):
        put("record", changed)
        if run("check", "proof", "--record", "record", "--key", KEY).returncode != 1:
            accepted.append(i)
    check(not accepted, f"an envelope of another spelling is none: {accepted}")
    put("record", LINES[4])
    for words in (["check", "proof"], ["check", "none", "--record", "record"], ["check", "a", "--record", "record"],
                  ["check", "proof", "--record", "/dev/zero"], ["check", "proof", "--record", "record", "extra"]):
        done = run(*words)
        check(done.returncode == 2 and one_line(done), f"exit 2 and one line: {' '.join(words)}")


def checkpoint():
    done = run("checkpoint", "a", "--key", KEY)
    check(done.returncode == 0 and done.stdout == GOLDEN["checkpoint"], "the signed head is printed byte for byte")
    bent = bytearray(GOLDEN["checkpoint"])
    bent[60] ^= 1
    done = run("checkpoint", lay("b", GOLDEN["log.jsonl"], bytes(bent)), "--key", KEY)
    check(done.returncode == 1 and one_line(done), "one that is not signed is not printed")
    check(run("checkpoint", "headless", "--key", KEY).returncode == 1, "a log without one is said to have none")
    check(run("checkpoint", "a").returncode == 2, "without a key nothing is trusted")


def diff():
    put("head", GOLDEN["checkpoint"])
    put("receipt", GOLDEN["outcome.tlog-proof"])
    log = GOLDEN["log.jsonl"]
    other = LINES[:6] + [LINES[6].replace(b'"epoch":', b'"epoch":')] + LINES[7:]
    other[6] = other[6].replace(b"2026-11-30", b"2026-11-29")
    lay("fork", b"".join(other))
    lay("longer", log + LINES[9])
    lay("torn", log + b'{"sig":')
    lay("empty", b"")
    for words, code, said in (
            (["a", "a"], 0, "EQUAL"), (["short", "a"], 0, "the first begins the second"),
            (["a", "short"], 0, "the second begins the first"), (["empty", "a"], 0, "the first begins the second"),
            (["a", "torn"], 0, "EQUAL"), (["a", "fork"], 4, "DIVERGED: they part at record 6"),
            (["fork", "short"], 4, "DIVERGED: they part at record 6"), (["a", "head"], 0, "EQUAL"),
            (["head", "a"], 0, "EQUAL"), (["a", "receipt"], 0, "EQUAL"), (["longer", "head"], 0, "begins the first"),
            (["short", "head"], 4, "the log ends before its head"), (["fork", "head"], 4, "do not lead to the head")):
        key = ["--key", KEY] if "head" in words or "receipt" in words else []
        done = run("diff", *words, *key)
        check(done.returncode == code and done.stdout.decode().splitlines()[-1].endswith(said),
              f"diff {' '.join(words)}: exit {code}, {said}")
    done = run("diff", "a", "fork")
    check(done.stdout.count(b"\n") == 5 and b"2026-11-29" in done.stdout, "where they part, both records are shown")
    bent = bytearray(GOLDEN["checkpoint"])
    bent[60] ^= 1
    put("forged", bytes(bent))
    for words in (["a"], ["a", "none"], ["a", "a", "a"], ["head", "head", "--key", KEY], ["a", "head"],
                  ["a", "forged", "--key", KEY], ["a", "/dev/null", "--key", KEY]):
        done = run("diff", *words)
        check(done.returncode == 2 and one_line(done), f"diff {' '.join(words[:2])}: exit 2 and one line")


def rows_of(log):
    done = run("export", lay("x", log), "--format", "csv")
    return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline=""), strict=True))


def export():
    done = run("export", "a", "--format", "dsse")
    envelopes = done.stdout.splitlines(keepends=True)
    check(len(envelopes) == 10 and envelopes[2] == GOLDEN["outcome.dsse.json"], "dsse: the envelope of a result, byte for byte")
    check([e.replace(b"keyid", b"") for e in envelopes[8:]] ==
          [e.replace(b"keyid", b"") for e in run("export", "a", "--format", "dsse", "--range", "8-99").stdout.splitlines(keepends=True)],
          "a range is those records, with the key of their epoch")
    wanted = [json.loads(line)["stmt"]["predicate"] for line in LINES]
    rows = rows_of(GOLDEN["log.jsonl"])
    check([(r["seq"], r["type"], r["run"]) for r in rows] ==
          [(str(p["seq"]), p["type"], p.get("req", "")) for p in wanted], "csv: a row a record")
    check(rows[3]["reasons"] == "limit.wall.above_max path.traversal" and rows[2]["exit_code"] == "0" and
          len(rows[0]["leaf"]) == 64, "csv: reasons, exit code, leaf")
    hostile = [b"=cmd", b"+1+1", b"-2+3", b"@SUM(A1)", b"a,b", b"a;b", b"%0D%0A=1", b"<script>"]
    bad = []
    for text in hostile:
        rows = rows_of(GOLDEN["log.jsonl"].replace(b'"client":"example-client"', b'"client":"%s"' % text))
        cell = rows[1]["client"]
        if len(rows) != 10 or cell.lstrip("'") != text.decode() or cell[0] in "=+-@":
            bad.append(text)
    check(not bad, f"csv: no cell is a formula and none breaks its row: {bad}")
    events = [json.loads(line) for line in run("export", "a", "--format", "ocsf").stdout.splitlines()]
    good = len(events) == 10 and all(
        e["type_uid"] == e["class_uid"] * 100 + e["activity_id"] and e["metadata"]["sequence"] == i and
        e["time"] == 1796061600000 + 1000 * i for i, e in enumerate(events))
    check(good and events[3]["action_id"] == 2 and events[1]["action_id"] == 1 and events[2]["exit_code"] == 0 and
          events[2]["status_id"] == 1, "ocsf: classes, time, order, decisions and ends")
    check(events[1]["process"]["file"]["hashes"][0]["value"] == wanted[1]["code"]["sha256"] and
          events[1]["process"]["uid"] == wanted[1]["req"], "ocsf: the run and the digest of its code")
    done = run("export", lay("y", b"".join(LINES[:3]) + b"no record\n" + LINES[3]), "--format", "csv")
    check(done.returncode == 1 and done.stdout.count(b"\r\n") == 4 and done.stderr.count(b"\n") == 1,
          "a line that is no record ends it, said in a line")
    for words in ([], ["--format", "xml"], ["--format", "csv", "--range", "5"], ["--format", "csv", "--range", "5-1"],
                  ["--format", "csv", "--range", "a-b"], ["--format", "csv", "b"]):
        done = run("export", "a", *words)
        check(done.returncode == 2 and one_line(done), f"export {' '.join(words)}: exit 2 and one line")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "export", f"{TOP}/a", "--format", "csv"], stdout=full, stderr=subprocess.PIPE, check=False)
    check(done.returncode == 2, "what cannot be written is not exit 0")


try:
    for part in (prove, no_false_receipt, checkpoint, diff, export):
        part()
finally:
    shutil.rmtree(TOP)
sys.exit(1 if FAULTS else 0)
