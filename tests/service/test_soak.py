"""Many runs, at once and one after another: each gets its own output, the
queue keeps its order, nobody starves, and nothing grows.

Run as: python3 test_soak.py BUILD_DIR SOURCE_DIR [part of a name]
        python3 test_soak.py BUILD_DIR SOURCE_DIR long [REPORT]

The long form makes 10,000 plain and 1,000 hostile runs and writes REPORT.
"""
import collections
import os
import platform
import re
import sys
import threading
import time

import wire
from lib import (Place, Skip, case, check, equal, main, need_programs,
                 need_root, read, status, wait_for)
from public import Service

LONG = len(sys.argv) > 3 and sys.argv[3] == "long"
REPORT = sys.argv[4] if len(sys.argv) > 4 else None
WORKERS = 4
# What may differ at rest: pages that the allocator has not given back yet.
RSS_SLACK_KB = 512
SMALL = {"wall_ms": {"default": 3000, "max": 3000},
         "cpu_ms": {"default": 2000, "max": 2000},
         "memory": {"default": 48 << 20, "max": 48 << 20},
         "pids": {"default": 16, "max": 16},
         "open_files": {"default": 64, "max": 64},
         "output": {"default": 1 << 20, "max": 1 << 20},
         "stdout": {"default": 65536, "max": 65536},
         "stderr": {"default": 65536, "max": 65536}}
HOSTILE = {
    "fork bomb": ":(){ :|:& };: ; wait",
    "memory bomb": "a=xxxxxxxxxxxxxxxx; while :; do a=$a$a; done",
    "output flood": "while :; do echo flood flood flood flood; done",
    "descriptor hog": "for i in {3..500}; do eval \"exec $i</dev/null\"; done; "
                      "while :; do :; done",
    "stops itself": "kill -STOP $$; sleep 100",
}
lines = []


def note(text):
    print("     " + text, flush=True)
    lines.append(text)


def fds_of(pid):
    found = []
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            found.append(os.readlink("/proc/%d/fd/%s" % (pid, name)))
        except FileNotFoundError:
            pass
    return found


def instance_groups(place):
    """Groups of runs of our launcher, by the instance file that it locks."""
    found = 0
    for pid in place.launchers():
        for link in fds_of(pid):
            name = re.search(r"/instances/([0-9a-f]{32})", link)
            if name is None:
                continue
            for root in ("", "unified", "memory", "pids", "cpu"):
                top = "/sys/fs/cgroup/%s/bailiff/%s" % (root, name.group(1))
                if os.path.isdir(top):
                    found += sum(bool(re.fullmatch("[0-9a-f]{16}", n))
                                 for n in os.listdir(top))
    return found


def holdings(place):
    """What the three services of a place hold."""
    held = {}
    for word, found in (("supervisor", place.supervisors()),
                        ("launcher", place.launchers()),
                        ("signer", place.signers())):
        equal(len(found), 1, word + "s")
        pid = found[0]
        fds = fds_of(pid)
        held[word + " pid"] = pid
        held[word + " fds"] = len(fds)
        held[word + " RSS kB"] = int(status(pid)["VmRSS"].split()[0])
        held[word + " mounts"] = read("/proc/%d/mountinfo" % pid).count(b"\n")
        children = read("/proc/%d/task/%d/children" % (pid, pid)).split()
        held[word + " children"] = len(children)
        if word == "launcher":
            held["uid locks"] = sum("/run/bailiff/uids/" in f for f in fds)
    held["groups of runs"] = instance_groups(place)
    return held


def at_rest(place):
    """Holdings once they stay the same for a while."""
    last, same = None, 0

    def steady():
        nonlocal last, same
        try:
            now = holdings(place)
        except (FileNotFoundError, ProcessLookupError):
            now = None
        same = same + 1 if now is not None and now == last else 0
        last = now
        time.sleep(0.05)
        return same >= 10

    wait_for(steady, "the services' rest")
    return last


def flat(before, after):
    for key, was in before.items():
        now = after[key]
        if key.endswith("RSS kB"):
            check(now <= was + RSS_SLACK_KB, "%s grew: %d to %d" %
                  (key, was, now))
        else:
            equal(now, was, key)


def show(before, after):
    for key in before:
        if not key.endswith("pid"):
            note("%-22s %8d %8d" % (key, before[key], after[key]))


def many(n, job, workers=WORKERS):
    """job(i) for 0 <= i < n by several threads; errors end the case."""
    turn, errors = iter(range(n)), []
    lock = threading.Lock()

    def work():
        while not errors:
            with lock:
                i = next(turn, None)
            if i is None:
                return
            try:
                job(i)
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def plain(place):
    def job(i):
        r = place.bash(":")
        check((r.code, r.out, r.err) == (0, b"", b""), "run %d: %r" % (i, r))
    return job


def soak_plain(place, warm, n):
    many(warm, plain(place))
    before = at_rest(place)
    start = time.monotonic()
    many(n, plain(place))
    seconds = time.monotonic() - start
    after = at_rest(place)
    note("%d plain runs, %d at once, in %.0f s (%.1f ms each)" %
         (n, WORKERS, seconds, seconds * 1000 / n))
    show(before, after)
    flat(before, after)


def soak_hostile(place, n):
    kinds = list(HOSTILE)
    ends = collections.Counter()
    lock = threading.Lock()

    def job(i):
        kind = kinds[i % len(kinds)]
        r = place.json("--lang", "bash", "-c", HOSTILE[kind])
        with lock:
            ends[kind, r.json["status"], r.json["killed_by"]] += 1

    many(2 * len(kinds), job)
    ends.clear()
    before = at_rest(place)
    start = time.monotonic()
    many(n, job)
    seconds = time.monotonic() - start
    after = at_rest(place)
    note("%d hostile runs, %d at once, in %.0f s" % (n, WORKERS, seconds))
    for (kind, word, by), count in sorted(ends.items(), key=str):
        note("%-16s %-10s killed by %-10s %6d" % (kind, word, by, count))
    show(before, after)
    flat(before, after)
    judge_ends(ends)
    r = place.bash("echo after")
    equal((r.code, r.out), (0, b"after\n"), "the next run")


def judge_ends(ends):
    wanted = {"fork bomb": {"timeout", "ok", "error", "memory"},
              "memory bomb": {"memory"},
              "output flood": {"killed"},
              "descriptor hog": {"timeout"},
              "stops itself": {"timeout"}}
    for kind, word, by in ends:
        check(word in wanted[kind], "%s: %s, killed by %s" % (kind, word, by))


@case("runs that wait start in the order of their requests")
def _():
    s = Service(concurrency={"runs": 1, "queue": 16})
    clients = [s.client() for _ in range(8)]
    # The first holds the only place until all the others have asked.
    for i, c in enumerate(clients):
        code = b"sleep 1" if i == 0 else b":"
        for request in (1, 2) if i else (1,):
            fds = (wire.sealed(code), wire.sealed(b""))
            c.send(wire.run(request, "bash"), fds)
            for fd in fds:
                os.close(fd)
        # A greeting that came later is answered later.
        s.client().close()
    for i, c in enumerate(clients):
        left = 2 if i else 1
        while left:
            verb, members = c.receive()
            check(verb is not None, "client %d was left" % i)
            if verb == wire.DECIDED:
                check(members["allow"], "refused: %r" % (members,))
            if verb == wire.FINISHED:
                equal(members["status"], "ok", "client %d" % i)
                left -= 1
    asked = [r for r in s.place.records() if r["type"] == "intent"]
    ended = [r for r in s.place.records() if r["type"] == "outcome"]
    equal(len(ended), 15, "outcomes")
    equal([r["req"] for r in ended], [r["req"] for r in asked],
          "order of the outcomes")


@case("a hundred commands at once each get all of their own output, and end")
def _():
    place = Place(concurrency={"runs": 4, "queue": 128})
    place.bash(":")
    before = at_rest(place)
    n = 100
    tokens = ["client-%03d-%s" % (i, os.urandom(4).hex()) for i in range(n)]
    fronts = []
    for token in tokens:
        code = "for i in 1 2 3; do echo %s $i; sleep 0.02; done; " \
               "echo %s >&2; exit 7" % (token, token)
        fronts.append(place.start("--lang", "bash", "-c", code))
    for token, front in zip(tokens, fronts):
        out, err = front.communicate(timeout=300)
        equal(out.decode(), "".join("%s %d\n" % (token, i)
                                    for i in (1, 2, 3)), "stdout")
        equal(err.decode(), token + "\n", "stderr")
        equal(front.returncode, 7, "exit of the command")
    after = at_rest(place)
    show(before, after)
    for key in before:  # a hundred at once may cost memory once
        if not key.endswith("RSS kB"):
            equal(after[key], before[key], key)
    r = place.verify()
    equal(r.code, 0, "verify: %r" % r)


@case("three hundred runs leave the services as they were")
def _():
    if LONG:
        raise Skip("the long form makes more")
    soak_plain(Place(), 40, 300)


@case("fork bombs, memory bombs, floods, hogs and sleepers leave nothing")
def _():
    if LONG:
        raise Skip("the long form makes more")
    soak_hostile(Place(limits=SMALL), 20)


@case("long: ten thousand plain runs")
def _():
    if not LONG:
        raise Skip("only in the long form")
    place = Place()
    soak_plain(place, 500, 10000)
    r = place.verify()
    equal(r.code, 0, "verify: %r" % r)
    note("the log of all of them verifies, results included")


@case("long: a thousand hostile runs")
def _():
    if not LONG:
        raise Skip("only in the long form")
    soak_hostile(Place(limits=SMALL), 1000)


@case("long: the report")
def _():
    if not LONG or REPORT is None:
        raise Skip("no report is asked for")
    with open(REPORT, "w") as f:
        f.write("# Soak\n\nWritten by `tests/service/test_soak.py` in its "
                "long form. Two numbers in a line are before and after,\n"
                "at rest.\n\n    Linux %s, %s, %d processors\n\n" %
                (platform.release(), platform.machine(), os.cpu_count()))
        f.writelines("    " + line + "\n" for line in lines)


need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
main()
