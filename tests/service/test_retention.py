#!/usr/bin/python3
"""Results that the policy keeps no longer: who goes, who stays, what the log says, and that nothing else is touched.

Folders are made old by the time of their MANIFEST.
"""
import os
import shutil
import time

from lib import PATIENCE_S, Place, case, check, equal, main, need_programs, need_root, wait_for

DAY = 86400
SUPERVISOR = 1900000000


def results(p, *parts):
    return os.path.join(p.state, "results", *parts)


def make(p, code="echo hello", **more):
    return p.json("--lang", "bash", "-c", code, **more).json["run_id"]


def age(p, run, seconds):
    when = time.time() - seconds
    os.utime(results(p, run, "MANIFEST"), (when, when))


def records(p, kind):
    return [record for record in p.records() if record["type"] == kind]


def gone(p, *runs):
    """Waits for it: a pass begins a second after a start."""
    ends = time.monotonic() + PATIENCE_S
    left = [results(p, run) for run in runs] + [results(p, ".pruning", run) for run in runs]
    while any(os.path.lexists(path) for path in left):
        check(time.monotonic() < ends, "still there: %s" % [x for x in left if os.path.lexists(x)])
        time.sleep(0.05)


def passed(p):
    """A whole service, which makes a pass before it ends."""
    p.stop()
    equal(p.bash("echo on", policy=p.short).code, 0, "a run")
    wait_for(lambda: not p.supervisors(), "the service's end")


def place(**results_of):
    """Its second policy, of the same name, has no linger: its service ends at once."""
    p = Place(audit={"results": results_of})
    p.short = p.write_policy("short.json", audit={"results": results_of}, service={"linger_s": 0})
    return p


@case("what is older than keep_days goes, named by a record before, and the log holds")
def _():
    p = place(keep_days=1)
    old, young, new = [make(p) for _ in range(3)]
    p.stop()
    age(p, old, 2 * DAY)
    age(p, young, DAY - 3600)
    equal(p.bash("echo on").code, 0, "the next run")
    gone(p, old)
    for run in (young, new):
        check(os.path.isfile(results(p, run, "MANIFEST")), "%s stays" % run)
    pruned = records(p, "results.prune")
    equal([(r["runs"], r["count"], r["reason"], r["policy"]["name"]) for r in pruned],
          [([old], 1, "keep_days", "default")], "the record")
    check(pruned[0]["bytes"] > 100, "it says how many bytes: %r" % pruned[0]["bytes"])
    p.stop()
    r = p.verify()
    check(r.code == 0 and b"1 folders are gone, and records say so" in r.out, "verify: %r" % r)
    shown = p.audit("show", os.path.join(p.state, "audit"), "--type", "results.prune")
    check(b"runs 1 reason keep_days" in shown.out and old.encode() in shown.out, "show: %r" % shown)


@case("who asks for a removed run is told when and why; for one that never was, as before")
def _():
    p = place(keep_days=1)
    run = make(p)
    p.stop()
    age(p, run, 3 * DAY)
    equal(p.bash("echo on").code, 0, "the next run")
    gone(p, run)
    for more in ([], ["stdout"]):
        said = p.result(run, *more)
        check(said.code != 0 and ("were removed on %s (keep_days)" % time.strftime("%Y-%m-%d", time.gmtime())).encode() in said.err, "%r" % said)
    said = p.result("r_" + "0" * 32)
    check(b"no result of run" in said.err, "%r" % said)


@case("beyond max_bytes the oldest go first, and nothing that is younger than ten minutes")
def _():
    p = place(max_bytes=1 << 20)
    runs = [make(p, "head -c 400000 /dev/zero > f") for _ in range(5)]
    passed(p)
    equal(records(p, "results.prune"), [], "all are young")
    for i, run in enumerate(runs[:4]):
        age(p, run, 3600 - 60 * i)
    passed(p)
    gone(p, *runs[:3])
    for run in runs[3:]:
        check(os.path.isdir(results(p, run)), "%s stays" % run)
    equal([(sorted(r["runs"]), r["reason"]) for r in records(p, "results.prune")], [(sorted(runs[:3]), "max_bytes")], "the record")
    equal(p.verify().code, 0, "verify")


@case("runs under a policy of another name stay")
def _():
    p = place(keep_days=1)
    other = p.write_policy("other.json", name="other")
    run = make(p, policy=other)
    mine = make(p)
    p.stop("--policy", other)
    age(p, run, 9 * DAY)
    age(p, mine, 9 * DAY)
    passed(p)
    gone(p, mine)
    check(os.path.isdir(results(p, run)), "the other's stays")


@case("links are not followed, pipes and deep directories go, and what they name is untouched")
def _():
    p = place(keep_days=1)
    run = make(p, "echo x > f")
    p.stop()
    victim = p.write("victim/keep.txt", "keep me")
    files = results(p, run, "files")
    os.symlink(os.path.dirname(victim), os.path.join(files, "folder"))
    os.symlink(victim, os.path.join(files, "file"))
    os.mkfifo(os.path.join(files, "pipe"))
    deep = files
    for i in range(60):
        deep = os.path.join(deep, "d")
        os.mkdir(deep, 0o700)
        with open(os.path.join(deep, "x"), "w") as f:
            f.write("x")
    os.makedirs(os.path.join(files, "many"))
    for i in range(300):
        open(os.path.join(files, "many", "%%0a%d" % i), "w").close()
    for here, folders, names in os.walk(files):
        for name in folders + names:
            os.lchown(os.path.join(here, name), SUPERVISOR, SUPERVISOR)
    age(p, run, 2 * DAY)
    passed(p)
    gone(p, run)
    equal(os.listdir(results(p, ".pruning")), [], "nothing is left behind")
    equal(open(victim).read(), "keep me", "the file behind the links")
    # results.kind cannot be asked any more: the folder went with a record.
    equal(p.verify().code, 0, "verify")


@case("a crash before the removal: the next start names the folder again, and half a removal goes on")
def _():
    p = place(keep_days=1)
    run = make(p)
    p.stop()
    age(p, run, 2 * DAY)
    shutil.copytree(results(p, run), p.path("copy"))
    passed(p)
    gone(p, run)
    # As after a crash between the record and the rename, and of another one within the removal.
    shutil.move(p.path("copy"), results(p, run))
    os.makedirs(results(p, ".pruning", "r_" + "1" * 32, "files"))
    for here, folders, names in [(results(p), [run, ".pruning"], [])] + list(os.walk(results(p, run))) + list(os.walk(results(p, ".pruning"))):
        for name in folders + names:
            os.lchown(os.path.join(here, name), SUPERVISOR, SUPERVISOR)
    age(p, run, 2 * DAY)
    passed(p)
    gone(p, run, "r_" + "1" * 32)
    equal([r["runs"] for r in records(p, "results.prune")], [[run], [run]], "the records")
    equal(p.verify().code, 0, "verify")


@case("a folder that is missing without a record is no retention")
def _():
    p = place(keep_days=1)
    run = make(p)
    passed(p)
    shutil.rmtree(results(p, run))
    wait_for(lambda: not p.signers(), "the signer's end")
    r = p.verify()
    check(r.code == 1 and b"results.lost" in r.out, "after a clean stop: %r" % r)


@case("what is kept for ever is not looked at")
def _():
    p = Place(service={"linger_s": 0})
    p.short = p.policy
    run = make(p)
    age(p, run, 9999 * DAY)
    passed(p)
    check(os.path.isdir(results(p, run)) and not os.path.exists(results(p, ".pruning")), "it stays")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-signer", "bailiff-audit")
    main()
