"""Attacks on a log that no other test shows as a whole: each gets the verdict that docs/attacks.md states.

    test_attacks.py BUILD_DIR SOURCE_DIR

Logs are written by the signer itself; both verifiers judge where Go's checker can.
"""
import os
import resource
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signer_harness import AUDITOR, Log, check, finish, need_go  # noqa: E402
import vectors  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402

need_go()
RUN = "%032x"
STATE = ("audit", "keys", "state", "pin")


def opened(log):
    assert log.start("--linger-ms", "600000") == "ready\n"
    return log


def copy_state(log):
    """A second place with the same bytes, as a backup or a cloned machine has."""
    other = Log()
    for name in STATE:
        shutil.rmtree(other.path(name))
        shutil.copytree(log.path(name), other.path(name), symlinks=True)
    return other


def lines_of(log):
    return log.bytes().splitlines(keepends=True)


def put_lines(log, lines):
    with open(log.path("audit/log/000000.jsonl"), "wb") as f:
        f.write(b"".join(lines))


def both(log, code, what, *known):
    """Both verifiers say 'code'."""
    ours, text = log.verify(*(w for k in known for w in ("--known", k)))
    go, more = log.go(*known) if not known else (code, "")
    check((ours, go) == (code, code), f"{what}: we {ours}, Go {go}" + ("" if (ours, go) == (code, code) else text + more))


def first_records():
    """4: the first k records are cut off, for each k; with the rest in a second segment or without."""
    log = opened(Log())
    try:
        log.say("runs 6")
        log.stop()
        lines, bad = lines_of(log), []
        for k in range(1, len(lines)):
            put_lines(log, lines[k:])
            if (log.verify()[0], log.go()[0]) != (1, 1):
                bad.append(k)
        check(not bad, f"4: a log without its first 1 to {len(lines) - 1} records is TAMPERED {bad}")
        os.unlink(log.path("audit/log/000000.jsonl"))
        with open(log.path("audit/log/000001.jsonl"), "wb") as f:
            f.write(b"".join(lines[4:]))
        check(log.verify()[0] == 2, "27: nothing begins at a later segment, whatever was pruned")
    finally:
        log.remove()


def snapshot():
    """17: all that the signer has goes back to an earlier day, and the log goes on from there."""
    log = opened(Log())
    try:
        log.say("runs 3")
        log.stop()
        earlier = copy_state(log)
        opened(log).say("runs 3")
        log.stop()
        held = log.path("held")
        shutil.copy(log.path("audit/checkpoint"), held)
        check(log.verify("--known", held)[0] == 0, "17: the head that an auditor took agrees with its log")
        for more in (0, 3):
            again = copy_state(earlier)
            try:
                check(opened(again).say(*([f"runs {more}"] if more else ["denial " + RUN % 5]))[0].startswith("welcome"),
                      "17: a signer cannot know that everything it has is old")
                again.stop()
                code, text = again.verify("--known", held)
                check(code == 4 and again.verify()[0] == 0, f"17: {more} runs later, the head held elsewhere says DIVERGED: {code}")
                check("known.head" in text, "17: and the finding names it")
            finally:
                again.remove()
        earlier.remove()
    finally:
        log.remove()


def clone():
    """52: one machine is copied, and both go on with the same keys."""
    log = opened(Log())
    try:
        log.say("runs 2")
        log.stop()
        twin = copy_state(log)
        try:
            for one in (log, twin):
                opened(one).say("runs 2")
                one.stop()
            check((log.verify()[0], twin.verify()[0]) == (0, 0), "52: each of two logs by one key holds by itself")
            mine, its = log.path("audit/checkpoint"), twin.path("audit/checkpoint")
            check((log.verify("--known", its)[0], twin.verify("--known", mine)[0]) == (4, 4),
                  "52: a head of one beside the other is DIVERGED, both ways")
            done = subprocess.run([AUDITOR, "diff", log.path("audit"), twin.path("audit"), "--key", log.path("pin/log.vkey")],
                                  capture_output=True, timeout=60, check=False)
            check(done.returncode == 4, "52: diff says where they part")
        finally:
            twin.remove()
    finally:
        log.remove()


def rewritten():
    """14: who has all keys makes another history of the same records' number."""
    log = opened(Log())
    try:
        log.say("runs 1")
        log.stop()
        other = copy_state(log)
        try:
            for one in (log, other):
                opened(one)
                # Twice the same requests: only times and salts differ.
                one.say(*("denial " + RUN % n for n in range(5)))
                one.stop()
            check(len(lines_of(log)) == len(lines_of(other)), "14: two histories of the same length")
            held = log.path("audit/checkpoint")
            check(other.verify("--deep")[0] == 0, "14: by itself the second holds, every signature of it")
            check(other.verify("--known", held)[0] == 4, "14: a head from inside the epoch says DIVERGED")
        finally:
            other.remove()
    finally:
        log.remove()


def limits_of_files():
    """76: the log may not grow: a limit of file size, lifted later."""
    log = opened(Log())
    try:
        log.say("runs 1")
        pid, size = log.process.pid, len(log.bytes())
        had = resource.prlimit(pid, resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
        answers = [log.say("denial " + RUN % n)[-1] for n in range(1, 4)]
        alive = log.process.poll() is None
        check(alive and all(a.startswith("refused 4") and "space" in a for a in answers),
              f"76: what does not fit is refused, by no signal {answers[:1]}")
        check(len(log.bytes()) == size, "76: and nothing of it stays in the log")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, had)
        check(log.say("denial " + RUN % 9)[-1].startswith("stored"), "76: the limit gone, the log goes on")
        log.stop()
        check("gap" in log.types(), "76: how many were refused is recorded")
        both(log, 0, "76: afterwards the log holds")
    finally:
        log.remove()


def taken_away():
    """79, 81: unlinked, replaced by a link or a folder, written to behind our back."""
    def unlink(path):
        os.unlink(path)

    def link(path):
        os.rename(path, path + ".moved")
        os.symlink(path + ".moved", path)

    def folder(path):
        os.unlink(path)
        os.mkdir(path)

    def cut(path):
        os.truncate(path, os.path.getsize(path) - 7)

    def whole_line(path):
        with open(path, "r+b") as f:
            data = f.read()
            f.write(data.splitlines(keepends=True)[-1])

    for what in (unlink, link, folder, cut, whole_line):
        log = opened(Log())
        try:
            log.say("runs 1")
            what(log.path("audit/log/000000.jsonl"))
            answer = log.say("denial " + RUN % 3)[-1]
            check(not answer.startswith("stored") and log.wait() == 1, f"79: {what.__name__}: nothing more is acknowledged")
            if what is whole_line:
                both(log, 1, "81: a record appended by somebody else is TAMPERED")
        finally:
            log.remove()


def flood():
    """85: denials ahead of their answers on a full queue: each is recorded or its sender told."""
    log = opened(Log())
    try:
        answers = [a for a in log.say("flood 3000") if a.split()[0] in ("denial", "stored", "refused")]
        log.stop()
        stored = sum(not a.startswith("refused") for a in answers)
        check(len(answers) == 3000 and log.types().count("denial") == stored,
              f"85: of 3000 denials {stored} were acknowledged, and so many are recorded")
        both(log, 0, "85: the log holds")
    finally:
        log.remove()


def results_without_proof():
    """21: checkpoint and receipts are deleted."""
    top = tempfile.mkdtemp(prefix="bailiff-attacks-")
    golden = vectors.golden()
    try:
        vectors.write(golden, top + "/v")
        words = [AUDITOR, "verify", top + "/v", "--key", golden["vkey"].decode().strip(), "--results", top + "/v/results"]
        run = lambda: subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)  # noqa: E731
        check(run().returncode == 0, "21: the results hold")
        name = next(n for n in os.listdir(top + "/v/results"))
        os.unlink(f"{top}/v/results/{name}/record.tlog-proof")
        done = run()
        check(done.returncode in (1, 5) and name in done.stdout, f"21: a result without its receipt is named: {done.returncode}")
        os.unlink(top + "/v/checkpoint")
        check(run().returncode == 1, "21: without a checkpoint the log is TAMPERED")
    finally:
        shutil.rmtree(top)


for attack in (first_records, snapshot, clone, rewritten, limits_of_files, taken_away, flood, results_without_proof):
    attack()
finish()
