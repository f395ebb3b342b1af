"""`audit verify --from`: only what is new, from a head that its auditor holds.

    test_from.py BUILD_DIR SOURCE_DIR

From every head that was published the verdict is that of the whole log; damage behind the head is found, damage before it is
not looked for and said not to be, and where the head cannot be tied to the log it is exit 2, never 0.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signer_harness import AUDITOR, Log, check, finish  # noqa: E402

RUN = "%032x"


def verify(log, *more):
    return subprocess.run([AUDITOR, "verify", log.path("audit"), "--key", log.path("pin/log.vkey"), *more],
                          capture_output=True, text=True, timeout=60, check=False)


def heads(log):
    """size -> file, of all that were published."""
    found = {}
    for name in os.listdir(log.path("audit/checkpoints")):
        with open(log.path("audit/checkpoints", name), encoding="utf-8") as f:
            notes = f.read()
        text = ""
        for line in notes.split("\n"):
            # A note has one empty line inside, and one behind it.
            if line == "" and "\u2014" in text:
                size = int(text.split("\n")[1])
                found[size] = log.path(f"head-{size}")
                with open(found[size], "w", encoding="utf-8") as f:
                    f.write(text)
                text = ""
            else:
                text += line + "\n"
    return found


def make():
    """Runs that begin before some heads and end behind them, epochs that end with and without a word."""
    log = Log()
    assert log.start("--linger-ms", "600000") == "ready\n"
    log.say("runs 3", "flood 300")
    d = log.driver(RUN % 77)
    d.stdout.readline()
    places = []
    for n in range(3):
        d.stdin.write(f"intent {RUN % (10 + n)}\n")
        d.stdin.flush()
        places.append(d.stdout.readline().split()[1:])
    log.say("runs 5", "redact " + "ab" * 16)
    for n, (seq, leaf) in enumerate(places):
        d.stdin.write(f"outcome {RUN % (10 + n)} {seq} {leaf}\n")
        d.stdin.flush()
        d.stdout.readline()
    d.stdin.write(f"redact {RUN % 10}\naccess {RUN % 11}\n")
    d.communicate()
    log.kill()
    assert log.start("--linger-ms", "600000") == "ready\n"
    log.say("runs 4")
    assert log.stop() == 0
    assert log.start("--linger-ms", "600000") == "ready\n"
    log.say("runs 1")
    assert log.stop() == 0
    return log


def every_head(log, found):
    whole = verify(log)
    bad = []
    n = log.bytes().count(b"\n")
    for size, path in sorted(found.items()):
        done = verify(log, "--from", path, "--json")
        said = json.loads(done.stdout) if done.stdout else {}
        if size == 0:
            good = done.returncode == 2 and "a head of nothing" in done.stderr
        else:
            good = (done.returncode == 0 and said["from"] == size and said["records"] == n - size
                    and said["root"] == json.loads(verify(log, "--json").stdout)["root"])
        if not good:
            bad.append((size, done.returncode, done.stdout[-300:], done.stderr))
    check(whole.returncode == 0 and not bad, f"from each of {len(found)} heads the log of {n} records holds, and has the same root {bad[:2]}")
    some = sorted(found)[len(found) // 2]
    text = verify(log, "--from", found[some]).stdout
    check(f"from record {some} on" in text and "not verified: what stands before" in text, "the report says what was not verified")
    for more in (["--deep"], ["--strict", "--deep"]):
        # A crash ended an epoch without a word: a warning in the whole log, and from before it.
        code = verify(log, "--from", found[max(found)], *more).returncode
        check(code == 0, f"from the last head, {' '.join(more)}: {code}")
    return some


def damage(log, found, some):
    lines = log.bytes().splitlines(keepends=True)

    def put(changed):
        with open(log.path("audit/log/000000.jsonl"), "wb") as f:
            f.write(b"".join(changed))

    bad = []
    for at in range(some, len(lines), 3):
        line = lines[at]
        put(lines[:at] + [line[:-20] + bytes([line[-20] ^ 1]) + line[-19:]] + lines[at + 1:])
        if verify(log, "--from", found[some]).returncode != 1:
            bad.append(at)
    check(not bad, f"a byte changed in a record behind the head is TAMPERED {bad}")
    for what, changed in (("one dropped", lines[:some] + lines[some + 1:]), ("one twice", lines[:some + 1] + lines[some:]),
                          ("two exchanged", lines[:some] + [lines[some + 1], lines[some]] + lines[some + 2:]),
                          ("the tail cut off", lines[:some + 2])):
        put(changed)
        check(verify(log, "--from", found[some]).returncode == 1, f"{what} behind the head: TAMPERED")
    bad = []
    for at in (some - 1, some - 2, some - 40):
        line = lines[at]
        put(lines[:at] + [line[:-20] + bytes([line[-20] ^ 1]) + line[-19:]] + lines[at + 1:])
        done = verify(log, "--from", found[some])
        if done.returncode != 2 or "verify the whole log with --known" not in done.stderr:
            bad.append((at, done.returncode, done.stderr))
    check(not bad, f"a byte changed in the records that tie the head to the log: exit 2 and what to do {bad}")
    put(lines[:some - 5])
    done = verify(log, "--from", found[some])
    check(done.returncode == 2, "a log that ends before the head: exit 2")
    check(verify(log, "--known", found[some]).returncode in (1, 4), "and the whole verification says what it is")
    put(lines)


def no_index(log, found, some):
    kept = log.path("kept")
    shutil.copytree(log.path("audit/index"), kept)
    for name in ("leaves", "blocks"):
        size = os.path.getsize(log.path("audit/index", name))
        with open(log.path("audit/index", name), "r+b") as f:
            f.write(bytes(size))
        code = verify(log, "--from", found[some]).returncode
        check(code in (1, 2) if name == "leaves" else code in (0, 1, 2), f"a wrong index/{name} makes nothing hold: {code}")
        shutil.copy(os.path.join(kept, name), log.path("audit/index", name))
    shutil.rmtree(log.path("audit/index"))
    done = verify(log, "--from", found[some])
    check(done.returncode == 2 and done.stderr.count("\n") == 1, "without an index: exit 2 and one line")
    shutil.copytree(kept, log.path("audit/index"))


def heads_and_words(log, found, some):
    earlier = min(s for s in found if s > 0)
    done = verify(log, "--from", found[some], "--known", found[max(found)], "--known", found[earlier])
    check(done.returncode == 0 and "fewer than --from: not compared" in done.stdout and f"size {max(found)}" in done.stdout,
          "heads behind it are compared, one before it is said not to be")
    other = Log()
    try:
        assert other.start("--linger-ms", "600000") == "ready\n"
        other.say("runs 9")
        other.stop()
        done = verify(log, "--from", other.path("audit/checkpoint"))
        check(done.returncode == 2 and not done.stdout, "a head of another log is none")
    finally:
        other.remove()
    for more in (["--results", "."], ["--policy", found[some]]):
        check(verify(log, "--from", found[some], *more).returncode == 2, f"--from with {more[0]}: exit 2")
    receipt = log.path("receipt")
    with open(receipt, "wb") as f:
        f.write(subprocess.run([AUDITOR, "prove", log.path("audit"), "--seq", "5", "--key", log.path("pin/log.vkey")],
                               capture_output=True, check=True).stdout)
    check(verify(log, "--from", receipt).returncode == 0, "a receipt is a head too")


def long_epochs():
    """Further back than is read for the key: the runs that began there are told."""
    log = Log()
    try:
        assert log.start("--linger-ms", "600000") == "ready\n"
        d = log.driver(RUN % 77)
        d.stdout.readline()
        d.stdin.write(f"intent {RUN % 1}\n")
        d.stdin.flush()
        seq, leaf = d.stdout.readline().split()[1:]
        log.say("flood 9000")
        log.say("flood 2500")
        held = log.path("held")
        shutil.copy(log.path("audit/checkpoint"), held)
        d.communicate(f"outcome {RUN % 1} {seq} {leaf}\n")
        log.stop()
        done = verify(log, "--from", held)
        check(done.returncode == 0 and "1 outcomes of runs that began before" in done.stdout,
              "an outcome of a run that began further back is told as not verified")
        check(json.loads(verify(log, "--from", held, "--json").stdout)["records"] < 10, "only what is new is judged")
    finally:
        log.remove()


log = make()
try:
    found = heads(log)
    some = every_head(log, found)
    damage(log, found, some)
    no_index(log, found, some)
    heads_and_words(log, found, some)
finally:
    log.remove()
long_epochs()
finish()
