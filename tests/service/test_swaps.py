"""Files, directories and roots that are exchanged while runs open them: a run
gets what the policy allows, or a path.* denial, never anything foreign.

Run as: python3 test_swaps.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import os
import subprocess
import sys

from inputs import digest, recorded, result_of
from lib import (SOURCE, Place, case, check, main, need_programs, need_root)

RUNS = 50  # of each of four cases
SECRET = b"secret\n"


class Swapper:
    def __init__(self, *names):
        self.process = subprocess.Popen(
            [sys.executable, "-B",
             os.path.join(SOURCE, "tests/service/swapper.py"), *names],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(self.process.stdout.readline() == b"ready\n", "no exchange")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate(b"end")
        check(self.process.returncode == 0, "the swapper failed")


class Ground:
    """data/ is the root; what lies outside it says "secret"."""

    def __init__(self):
        self.place = p = Place()
        p.write("data/one", b"one\n")
        p.write("data/two", b"two, which is longer\n" * 1000)
        p.write("data/sub/file", b"one\n")
        p.write("data/sub2/file", b"two, which is longer\n" * 1000)
        p.write("outside/file", SECRET)
        p.write("outside/one", SECRET)
        p.write("outside/sub/file", SECRET)
        self.policy = p.write_policy("roots.json",
                                     paths={"read": [p.path("data")]})
        # The service holds the root from before the first exchange.
        check(p.bash("echo up", policy=self.policy).code == 0, "service")
        self.good = {b"one\n", b"two, which is longer\n" * 1000}

    def runs(self, words, code, reasons):
        seen = {"ran": 0}
        for _ in range(RUNS):
            got = self.place.run("--lang", "bash", *words, "-c", code,
                                 policy=self.policy)
            check(SECRET.strip() not in got.out + got.err, "%r" % got)
            if got.code == 0:
                check(got.out in self.good, "content %r" % got.out[:80])
                seen["ran"] += 1
                continue
            record = self.place.records()[-1]
            check(got.code == 126 and record["type"] == "denial", "%r" % got)
            for reason in record["reasons"]:
                check(reason in reasons, "reason %s" % reason)
                seen[reason] = seen.get(reason, 0) + 1
        print("     (%s)" % ", ".join("%s %d" % s for s in seen.items()))
        return seen

    def digests(self):
        """Each run was given the content whose digest is recorded."""
        for record in self.place.records():
            if record["type"] != "outcome":
                continue
            for i in recorded(self.place, record["req"]):
                out = result_of(self.place, record["req"])["stdout"]
                check(i["sha256"] == out["total_sha256"], "digest")
                check(i["sha256"] in {digest(g) for g in self.good}, "whose")


@case("a file that is exchanged with another, a link and a FIFO")
def _():
    g = Ground()
    d = g.place.path("data")
    os.symlink("../outside/one", d + "/link")
    os.mkfifo(d + "/fifo")
    with Swapper(d + "/one", d + "/two", d + "/one", d + "/link",
                 d + "/one", d + "/fifo"):
        g.runs(["--file", d + "/one:x"], "cat x",
               {"path.link", "path.not_regular", "path.changed"})
    g.digests()


@case("a directory on the way that is exchanged with a link outside")
def _():
    g = Ground()
    d = g.place.path("data")
    os.symlink("../outside", d + "/link")
    with Swapper(d + "/sub", d + "/sub2", d + "/sub", d + "/link"):
        g.runs(["--file", d + "/sub/file:x"], "cat x",
               {"path.link", "path.changed", "path.missing"})
    g.digests()


@case("a shown directory that is exchanged with a link outside")
def _():
    g = Ground()
    d = g.place.path("data")
    os.symlink("../outside", d + "/link")
    with Swapper(d + "/sub", d + "/sub2", d + "/sub", d + "/link"):
        g.runs(["--dir", d + "/sub:x"], "cat x/file",
               {"path.link", "path.changed", "path.missing",
                "path.not_directory"})


@case("a root that is exchanged with a directory and a link outside")
def _():
    g = Ground()
    d = g.place.path("data")
    os.symlink("outside", g.place.path("link"))
    with Swapper(d, g.place.path("outside"), d, g.place.path("link")):
        g.runs(["--file", d + "/one:x", "--dir", d + "/sub:y"],
               "cat x; grep -q one y/file || cat y/file",
               {"path.root_changed", "path.link"})


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-opener")
    main()
