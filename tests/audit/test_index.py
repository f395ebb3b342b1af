"""audit/index: one record is found and proven without reading the others, and a lost or wrong index never makes a wrong proof.

    test_index.py BUILD_DIR SOURCE_DIR
"""
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signer_harness import AUDITOR, Log, check, finish  # noqa: E402

FILES = ("leaves", "runs", "blocks")
SAID = b"audit/index is not of use"


def run(*words):
    return subprocess.run([AUDITOR, *words], capture_output=True, timeout=60, check=False)


def prove(log, *what):
    return run("prove", log.path("audit"), "--key", log.path("pin/log.vkey"), *what)


def index(log):
    out = {}
    for name in FILES:
        with open(log.path("audit/index", name), "rb") as f:
            out[name] = f.read()
    return out


def put(log, files):
    shutil.rmtree(log.path("audit/index"), ignore_errors=True)
    os.mkdir(log.path("audit/index"), 0o700)
    for name, data in files.items():
        with open(log.path("audit/index", name), "wb") as f:
            f.write(data)
        os.chmod(log.path("audit/index", name), 0o600)


def write_log(log, data):
    with open(log.path("audit/log/000000.jsonl"), "r+b") as f:
        f.write(data)
        f.truncate()


def same_as_reading(log, seqs):
    """Every proof with the index, and the same of the whole log without it."""
    by_index = {seq: prove(log, "--seq", str(seq)) for seq in seqs}
    kept = index(log)
    shutil.rmtree(log.path("audit/index"))
    wrong = [seq for seq in seqs if prove(log, "--seq", str(seq)).stdout != by_index[seq].stdout]
    put(log, kept)
    bad = [seq for seq in seqs if by_index[seq].returncode != 0 or by_index[seq].stderr]
    check(not wrong and not bad, f"{len(seqs)} proofs by the index are those of the whole log {wrong} {bad}")


def reads_little(log, n):
    """A log damaged elsewhere: only who reads all of it minds."""
    data = log.bytes()
    at = len(data) // 4
    write_log(log, data[:at] + b"#" + data[at + 1:])
    done = prove(log, "--seq", str(n - 3))
    check(done.returncode == 0 and not done.stderr, "a record is proven without reading the others")
    kept = index(log)
    shutil.rmtree(log.path("audit/index"))
    done = prove(log, "--seq", str(n - 3))
    check(done.returncode == 1 and not done.stdout, "without an index they are read, and the damage is found")
    put(log, kept)
    write_log(log, data)
    line = data.splitlines(keepends=True)[n - 3]
    write_log(log, data.replace(line, line.replace(b'"uid":', b'"uie":', 1)))
    done = prove(log, "--seq", str(n - 3))
    check(done.returncode == 1 and not done.stdout, "a record that was edited is never proven")
    write_log(log, data)


def runs(log):
    ends = {p["req"]: p["seq"] for p in log.records() if p["type"] in ("outcome", "denial")}
    some = random.Random(1).sample(sorted(ends), 12)
    bad = []
    for req in some:
        done = prove(log, "--req", req)
        if done.returncode != 0 or done.stderr or b"\nindex %d\n" % ends[req] not in done.stdout:
            bad.append((req, done.stdout[:80], done.stderr))
    check(not bad, f"the end of a run is found by its id {bad}")
    check(prove(log, "--req", "r_" + "0" * 32).returncode == 2, "a run that is not there: 2")
    check(prove(log, "--seq", "999999").returncode == 2, "a record that is not there: 2")
    # The first block has no offset that could be wrong.
    return next((req, ends[req]) for req in sorted(ends) if ends[req] >= 256)


def wrong_index(log, req, seq):
    good = index(log)
    want = prove(log, "--seq", str(seq)).stdout
    rng = random.Random(5)
    cases = {"empty": {name: b"" for name in FILES},
             "zeros": {name: bytes(len(good[name])) for name in FILES},
             "noise": {name: rng.randbytes(len(good[name])) for name in FILES},
             "short": {name: good[name][:len(good[name]) // 3] for name in FILES},
             "reversed": {name: good[name][::-1] for name in FILES},
             "offsets past the log": {**good, "blocks": b"".join(
                 good["blocks"][i:i + 32] + b"\xff" * 8 for i in range(0, len(good["blocks"]), 40))}}
    for name, files in cases.items():
        put(log, files)
        done = prove(log, "--seq", str(seq))
        check(done.returncode == 0 and done.stdout == want and SAID in done.stderr,
              f"an index of {name}: said, and the proof is made from the whole log {done.stderr[:80]}")
        by_run = prove(log, "--req", req)
        check(by_run.returncode == 0 and by_run.stdout == want, f"an index of {name}: the run is found all the same")
        done = run("verify", log.path("audit"), "--key", log.path("pin/log.vkey"))
        # Shorter is no lie: it has not come so far.
        warned = b"WARN  index" in done.stdout
        check(done.returncode == 0 and warned == (name not in ("empty", "short")),
              f"an index of {name}: the records decide, " + ("with a warning" if warned else "nothing to say"))
    put(log, {**good, "runs": bytes(len(good["runs"]))})
    check(prove(log, "--req", req).stdout == want, "an index that hides a run hides nothing")
    for name in FILES:
        put(log, good)
        os.unlink(log.path("audit/index", name))
        os.symlink("/etc/passwd", log.path("audit/index", name))
        check(prove(log, "--seq", str(seq)).stdout == want, f"a link in place of index/{name} is not followed")
        os.unlink(log.path("audit/index", name))
        os.mkfifo(log.path("audit/index", name))
        check(prove(log, "--seq", str(seq)).stdout == want, f"a FIFO in place of index/{name} holds nobody up")
    put(log, good)
    check(run("verify", log.path("audit"), "--key", log.path("pin/log.vkey"), "--strict").returncode == 0,
          "the true one is worth no warning")


def start_again(log):
    """What a start makes of an index: the same that was."""
    assert log.start("--linger-ms", "600000") == "ready\n"
    log.say("runs 3")
    assert log.stop() == 0
    good = index(log)
    n = log.bytes().count(b"\n")
    check(len(good["leaves"]) == 32 * n and len(good["runs"]) == 4 * n and len(good["blocks"]) == n // 256 * 40,
          "a signer that stopped leaves an entry for each record")
    cases = {"that is gone": None, "cut in the middle": {k: v[:len(v) // 2 + 3] for k, v in good.items()},
             "with too much": {k: v + b"x" * 100 for k, v in good.items()},
             "without its blocks": {**good, "blocks": b""}}
    for name, files in cases.items():
        if files is None:
            shutil.rmtree(log.path("audit/index"))
        else:
            put(log, files)
        assert log.start("--linger-ms", "600000") == "ready\n"
        log.kill()
        check(index(log) == good, f"a start makes an index {name} anew")
    # Killed with records behind the last sync, damaged as a power cut may.
    assert log.start("--linger-ms", "600000") == "ready\n"
    log.say("flood 700")
    log.kill()
    bent = index(log)
    put(log, {k: v[:-40] + bytes(40) for k, v in bent.items()})
    assert log.start("--linger-ms", "600000") == "ready\n"
    assert log.stop() == 0
    done = run("verify", log.path("audit"), "--key", log.path("pin/log.vkey"))
    new, n = index(log), log.bytes().count(b"\n")
    check(len(new["leaves"]) == 32 * n and all(new[k].startswith(bent[k]) for k in FILES)
          and b"WARN  index" not in done.stdout,
          "after a crash what was not synced is made from the log")
    os.chmod(log.path("audit/index"), 0o777)
    check(log.start("--linger-ms", "600000") == "ready\n", "an index that others may write keeps no signer from starting")
    check(log.say("denial r_" + "ab" * 16)[0].startswith("welcome") and log.stop() == 0, "which then writes none")
    os.chmod(log.path("audit/index"), 0o700)


def main():
    log = Log()
    try:
        assert log.start("--linger-ms", "600000") == "ready\n"
        log.say("runs 200", "flood 600")
        log.say("runs 20")
        assert log.stop() == 0
        n = log.bytes().count(b"\n")
        print(f"{n} records")
        same_as_reading(log, sorted({0, 1, 2, 254, 255, 256, 257, 511, 512, 513, n - 256, n - 2, n - 1}))
        reads_little(log, n)
        wrong_index(log, *runs(log))
        start_again(log)
    finally:
        log.remove()
    finish()


main()
