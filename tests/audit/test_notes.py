"""Records about the log's own life and about runs of the past: config, clock, tick, gap, access, results.prune and
redact.  When they are written, that both verifiers take them, and that a redacted run's commitment opens no more."""
import hashlib
import hmac
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signer_harness import BUILD, Log, check, finish, need_go  # noqa: E402

need_go()
RUN = "%032x"


def of_type(log, kind):
    return [p for p in log.records() if p["type"] == kind]


def run_one(log, number, options=()):
    """A whole run over a channel of its own."""
    seq = len(log.records()) + 1
    d = log.driver(options=options)
    d.stdin.write("intent %s\n" % (RUN % number))
    d.stdin.flush()
    d.stdout.readline()
    seq, leaf = d.stdout.readline().split()[1:3]
    d.communicate("outcome %s %s %s\n" % (RUN % number, seq, leaf))
    return int(seq)


def changes():
    log = Log()
    try:
        log.start("--linger-ms", "60000")
        run_one(log, 1, ("policy=01", "build=01"))
        run_one(log, 2, ("policy=01", "build=01"))
        check(of_type(log, "config") == [], "the same policy and programs again: no config record")
        run_one(log, 3, ("policy=02", "build=01"))
        one = of_type(log, "config")
        check(len(one) == 1 and one[0]["policy"]["sha256"][:2] == "02" and one[0]["was"][:2] == "01" and "builds" not in one[0],
              "another policy of that name: config with the digest now and before")
        run_one(log, 4, ("policy=02", "build=03"))
        two = of_type(log, "config")
        check(len(two) == 2 and two[1]["builds"]["supervisor"][:2] == "03" and "policy" not in two[1] and "signer" in two[1]["builds"],
              "other programs in an open epoch: config with their digests")
        log.kill()
        os.unlink(log.path("state/head"))
        log.start("--linger-ms", "60000")
        run_one(log, 5, ("policy=02", "build=03"))
        check(len(of_type(log, "config")) == 2, "a start that has lost its head knows them from the log")
        log.stop()
        log.start("--linger-ms", "60000")
        run_one(log, 6, ("policy=04", "build=03"))
        check(len(of_type(log, "config")) == 3, "and one that has its head")
        log.stop()
        log.good("config")
    finally:
        log.remove()


def clocks():
    log = Log()
    shifted = {"LD_PRELOAD": os.path.join(BUILD, "tests/fault_preload.so")}
    try:
        log.start()
        run_one(log, 1)
        log.stop()
        log.start(env=dict(shifted, WALL_S="-3600"))
        run_one(log, 2)
        log.stop()
        log.start(env=dict(shifted, WALL_S="7200"))
        run_one(log, 3)
        log.stop()
        steps = [p["step"] for p in of_type(log, "clock")]
        near = lambda step, way, s: step["way"] == way and abs(step["us"] - s * 1000000) < 60000000
        check(len(steps) == 2 and near(steps[0], "back", 3600) and near(steps[1], "forward", 10800),
              "a wall clock that was set is recorded, with way and size: %s" % steps)
        log.start(env=dict(shifted, WALL_S="7200"))
        run_one(log, 4)
        log.stop()
        check(len(of_type(log, "clock")) == 2, "one that runs on is not")
        log.good("clock")
    finally:
        log.remove()


def ticks():
    log = Log()
    try:
        log.start("--linger-ms", "60000")
        quiet = log.driver(options=("tick=1",))
        quiet.stdout.readline()
        time.sleep(1.5)
        check(log.bytes() == b"", "who has recorded nothing is not silent: no tick")
        run_one(log, 1)
        before = len(log.records())
        ends = time.monotonic() + 60
        while len(of_type(log, "tick")) < 2 and time.monotonic() < ends:
            time.sleep(0.1)
        found = of_type(log, "tick")
        check(len(found) >= 2 and log.records()[before]["type"] == "tick", "then each idle second has its tick")
        gap = (found[1]["mono"] - found[0]["mono"]) / 1e9
        check(gap >= 0.99, "and no more than that (%.2f s apart)" % gap)
        quiet.communicate()
        log.stop()
        log.good("tick")
    finally:
        log.remove()


def gaps():
    log = Log()
    try:
        log.start("--linger-ms", "60000", env={"LD_PRELOAD": os.path.join(BUILD, "tests/fault_preload.so"), "FAULT": "write:28:1"})
        said = log.say("denial " + RUN % 1, "denial " + RUN % 2)
        check(said[1].startswith("refused 4") and said[2].startswith("stored"), "no space once: one refused, the next stored")
        found = of_type(log, "gap")
        check([(g["refused"], g["reason"]) for g in found] == [(1, "space")] and found[0]["from"] <= found[0]["to"],
              "and a gap that says one was refused: %s" % found)
        log.say("gap 7")
        check(of_type(log, "gap")[-1]["refused"] == 7 and of_type(log, "gap")[-1]["reason"] == "busy", "what a supervisor refused")
        check(log.say("gap 0")[1].startswith("refused 2"), "a gap of nothing is refused")
        log.stop()
        log.good("gap")
    finally:
        log.remove()


def readers_and_prunes():
    log = Log()
    try:
        log.start("--linger-ms", "60000")
        run_one(log, 1)
        log.say("access " + RUN % 1, "access %s files/a%%20b" % (RUN % 1))
        found = of_type(log, "access")
        check([(a["what"], a.get("name")) for a in found] == [("list", None), ("file", "files/a%20b")] and found[0]["req"] == "r_" + RUN % 1,
              "who reads a list or a file is recorded")
        check(log.say('access %s a"b' % (RUN % 1))[1].startswith("refused 2"), "a name that is not percent-encoded is refused")
        log.say("prune " + RUN % 1)
        p = of_type(log, "results.prune")
        check(len(p) == 1 and p[0]["runs"] == ["r_" + RUN % 1] and p[0]["count"] == 1 and p[0]["reason"] == "keep_days" and
              p[0]["policy"]["name"] == "test", "results.prune names runs, reason and policy")
        said = log.say("intent " + RUN % 2, "prune " + RUN % 2, "redact " + RUN % 2)
        check(said[2].startswith("refused 5") and said[3].startswith("refused 5"), "a run that goes on is neither pruned nor redacted")
        ends = time.monotonic() + 60
        while log.types()[-1] != "outcome:aborted" and time.monotonic() < ends:
            time.sleep(0.02)
        log.good("access and results.prune")
        log.say("prune " + RUN % 99)
        log.stop()
        check(log.verify()[0] == 0 and log.verify("--strict")[0] == 3, "a pruned run that the log does not know: a warning")
    finally:
        log.remove()


def salt_of(log, seq):
    folder = log.path("audit/salts")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
        for at in range(0, len(data), 40):
            if int.from_bytes(data[at:at + 8], "big") == seq:
                return data[at + 8:at + 40]
    return None


def everywhere(log):
    """Each 32 bytes that any file of the log holds where a salt could be, and all bytes."""
    found = b""
    for here, _, names in os.walk(log.dir):
        for name in names:
            path = os.path.join(here, name)
            if os.path.isfile(path) and not os.access(path, os.X_OK):
                with open(path, "rb") as f:
                    found += f.read()
    return found



def redaction():
    """The driver's digests are zeros where a digest of a secret would be: the secret is guessed by its digest."""
    log = Log()
    try:
        log.start("--linger-ms", "60000")
        first, second = run_one(log, 1), run_one(log, 2)
        commit = log.records()[first]["args"]["commit"]
        secret = bytes(32)
        match = lambda salt: "hmac-sha256:" + hmac.new(salt, secret, hashlib.sha256).hexdigest() == commit
        salt, other = salt_of(log, first), salt_of(log, second)
        check(match(salt), "with its salt a guess can be tested against the commitment")
        check(log.say("redact " + RUN % 77)[1].startswith("refused 5"), "a run that the log does not have is refused")
        check(log.say("redact " + RUN % 1)[1].startswith("stored"), "a run is redacted")
        r = of_type(log, "redact")
        check(r[0]["runs"] == [{"epoch": 0, "req": "r_" + RUN % 1, "seq": first}] and r[0]["results"] is False,
              "the record names run, epoch and seq")
        left = everywhere(log)
        check(salt not in left and salt_of(log, first) == bytes(32), "its salt is nowhere in the log's folders")
        check(not any(match(left[at:at + 32]) for at in range(0, len(left) - 31)), "no 32 bytes that are left test that guess")
        check(salt_of(log, second) == other, "another run's salt stays")
        log.good("redact")
        code, text = log.verify()
        check(code == 0 and "1 runs: what opened" in text, "verify says how many are redacted")
        check(log.say("redact %s results" % (RUN % 1))[1].startswith("stored"), "again, with results: once more a record")
        log.kill()
        # A crash between record and erasure: the salt is back, and state/head is older than the record.
        path = log.path("audit/salts/0")
        data = bytearray(open(path, "rb").read())
        at = next(i for i in range(0, len(data), 40) if int.from_bytes(data[i:i + 8], "big") == first)
        data[at + 8:at + 40] = salt
        open(path, "wb").write(data)
        os.unlink(log.path("state/head"))
        log.start()
        check(salt_of(log, first) == bytes(32), "a start erases what a record says is erased")
        log.stop()
        log.good("redact after a crash")
    finally:
        log.remove()


if __name__ == "__main__":
    for case in (changes, clocks, ticks, gaps, readers_and_prunes, redaction):
        case()
    finish()
