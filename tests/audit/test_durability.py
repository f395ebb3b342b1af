"""What an acknowledgement promises under durability full, relaxed and none, and
what a power cut leaves of it: the log as far as it was synced, and every other
file as new as it can be.  Syncs are counted inside the signer by
fault_preload.so; no case depends on how fast the machine is."""
import os
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signer_harness import AUDITOR, BUILD, Log, check, finish, need_go  # noqa: E402

need_go()
RUN = "%032x"
LONG = "--long" in sys.argv
SHIM = os.path.join(BUILD, "tests/fault_preload.so")


class Cut(Log):
    """A log whose power can be cut."""

    def start(self, *options, **more):
        self.syncs = self.path("syncs%d" % self.starts)
        return super().start(*options, env={"LD_PRELOAD": SHIM, "SYNCS": self.syncs}, **more)

    def log(self):
        return self.path("audit/log/000000.jsonl")

    def synced(self):
        """How often the log was synced, and how far."""
        inode, sizes = os.stat(self.log()).st_ino, [0]
        for line in open(self.syncs):
            i, size = line.split()
            if int(i) == inode and int(size) > 0:
                sizes.append(int(size))
        return len(sizes) - 1, max(sizes)

    def cut_power(self, how):
        """Ends the signer; of the log only what was synced is left."""
        before = self.synced()[1] if how == "early" else None
        self.kill()
        size = self.synced()[1] if before is None else before
        whole = self.bytes()
        with open(self.log(), "r+b") as f:
            if how == "zeros":
                f.seek(size)
                f.write(bytes(len(whole) - size))
            else:
                f.truncate(size)
        return len(whole[:size].splitlines()), len(whole) - size


def channel(log, durability):
    """Ask and hear, one line at a time."""
    import secrets
    from signer_harness import DRIVER
    d = subprocess.Popen([DRIVER, log.socket, secrets.token_hex(16), "durability=" + durability], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)
    d.stdout.readline()

    def ask(line):
        d.stdin.write(line + "\n")
        d.stdin.flush()
        return d.stdout.readline().split()
    d.ask = ask
    return d


def runs(d, n, first=1):
    """n runs; (seq, leaf) of each record that was acknowledged."""
    acked = []
    for i in range(first, first + n):
        a = d.ask("intent " + RUN % i)
        acked.append((int(a[1]), a[2]))
        a = d.ask("outcome %s %s %s" % (RUN % i, a[1], a[2]))
        acked.append((int(a[1]), a[2]))
    return acked


def wait_for(what):
    """True once it holds; a machine that is slow has a minute."""
    for _ in range(600):
        if what():
            return True
        time.sleep(0.1)
    return False


def assurance(text):
    return [l for l in text.splitlines() if l.startswith("Assurance:")][0]


def syncs():
    for durability, most in (("full", None), ("relaxed", 20), ("none", 1)):
        l = Cut()
        try:
            l.start("--linger-ms", "60000")
            d = channel(l, durability)
            began = time.monotonic()
            runs(d, 20)
            n, size = l.synced()
            if most is None:
                check(n >= 40 and size == os.path.getsize(l.log()), "full: %d syncs for 40 records, one after the other" % n)
            elif durability == "relaxed":
                most = 2 + int(time.monotonic() - began)
                check(n <= most, "relaxed: %d syncs for 40 records, at most %d" % (n, most))
                check(wait_for(lambda: l.synced()[1] == os.path.getsize(l.log())), "relaxed: all is synced without another record")
                check(wait_for(lambda: " 41\n" in open(l.path("audit/checkpoint")).read().replace("\n41\n", " 41\n")), "relaxed: and then its head is signed")
            else:
                check(n == 1, "none: %d sync for 40 records, the one that opens the epoch" % n)
                check(open(l.path("audit/checkpoint")).read().splitlines()[1] == "2", "none: the signed head covers what was synced, not more")
            d.communicate()
            check(l.stop() == 0 and l.synced()[1] == os.path.getsize(l.log()), "%s: a stop leaves all of it synced" % durability)
            l.good("durability " + durability)
            text = l.verify()[1]
            want = {"full": "local", "relaxed": "durability: relaxed", "none": "durability: none"}[durability]
            check(want in assurance(text) and assurance(text).endswith("dev" if durability == "none" else "local"), "%s: %s" % (durability, assurance(text)))
            check(("durability" in assurance(text)) == (durability != "full"), "%s: named when it is not full" % durability)
            check(l.verify("--require", "local")[0] == (3 if durability == "none" else 0), "%s: --require local" % durability)
            said = l.bytes().count(b'"durability":"%s"' % durability.encode())
            check(said == (0 if durability == "full" else 40), "%s: the records say it (%d)" % (durability, said))
        finally:
            l.remove()


def mixed():
    """Two services, one log: what is full stays full."""
    l = Cut()
    try:
        l.start("--linger-ms", "60000")
        weak, full = channel(l, "none"), channel(l, "full")
        runs(weak, 5)
        lag = os.path.getsize(l.log()) - l.synced()[1]
        full.ask("denial " + RUN % 900)
        check(lag > 0 and l.synced()[1] == os.path.getsize(l.log()), "a record that is promised full takes all before it along")
        os.mkdir(l.path("r"))
        a = weak.ask("intent " + RUN % 901)
        weak.ask("outcome %s %s %s %s" % (RUN % 901, a[1], a[2], l.path("r")))
        os.mkdir(l.path("f"))
        a = full.ask("intent " + RUN % 902)
        full.ask("outcome %s %s %s %s" % (RUN % 902, a[1], a[2], l.path("f")))
        weak.communicate()
        full.communicate()
        check(os.path.getsize(l.path("r/proof")) == 0, "no receipt where nothing was synced: no head is signed over what can vanish")
        l.stop()
        code, text = l.go(l.path("f/proof"), l.path("f/line"))
        check(code == 0, "and a receipt beside it that holds%s" % ("" if code == 0 else ": " + text))
        late = l.path("late")
        with open(late, "wb") as f:
            subprocess.run([AUDITOR, "prove", l.path("audit"), "--key", l.path("pin/log.vkey"), "--seq", "14"], stdout=f)
        check(os.path.getsize(late) > 0, "a receipt of the other can be had later")
        l.good("two promises in one log")
    finally:
        l.remove()


def power_cuts():
    rng = random.Random(20261201)
    for durability in ("full", "relaxed", "none"):
        l = Cut()
        bad, lost, cuts, number = [], 0, 0, 1
        kept = {}
        try:
            for r in range(60 if LONG else 6):
                if l.start("--linger-ms", "60000") != "ready\n":
                    bad.append((r, open(l.path("stderr")).read()))
                    break
                acked, ds = [], []
                for c in range(3):
                    d = channel(l, durability)
                    n = rng.randint(1, 12)
                    acked += runs(d, n, number)
                    number += n
                    ds.append(d)
                if r % 2:
                    a = ds[0].ask("intent " + RUN % number)
                    number += 1
                    acked.append((int(a[1]), a[2]))
                if durability == "relaxed" and r % 3 == 0:
                    # A sync and its head, then more: both must fit.
                    wait_for(lambda: l.synced()[1] == os.path.getsize(l.log()))
                    acked += runs(ds[1], 3, number)
                    number += 3
                records, cut = l.cut_power(("truncate", "zeros")[r % 2])
                cuts += cut > 0
                for d in ds:
                    d.communicate()
                gone = [s for s, _ in acked if s >= records]
                lost += len(gone)
                if durability == "full" and gone:
                    bad.append((r, "full lost", gone))
                kept.update((s, leaf) for s, leaf in acked if s < records)
                code, text = l.verify("--deep")
                if code != (0 if durability == "full" and not r % 2 else 5):
                    bad.append((r, "verify says %d" % code, text))
                if durability != "full" and "durability %s" % durability not in text:
                    bad.append((r, "not said", text))
                if l.go()[0] not in (0, 5):
                    bad.append((r, l.go()))
            check(not bad, "%s: power cut %d times: verify says 5, the next start goes on %s" % (durability, r + 1, bad[:2]))
            if durability == "full":
                check(lost == 0, "full: nothing acknowledged is lost")
            else:
                check(lost > 0 and cuts > 0, "%s: %d of %d acknowledged records lay behind the last sync and are gone" % (durability, lost, lost + len(kept)))
            l.start("--linger-ms", "100")
            d = channel(l, durability)
            d.ask("denial " + RUN % number)
            d.communicate()
            l.wait()
            import hashlib
            leaves = [hashlib.sha256(b"\0" + x).hexdigest() for x in l.bytes().splitlines()]
            check(all(leaves[s] == leaf for s, leaf in kept.items()), "%s: what had been synced is there, in its place" % durability)
            l.good("%s, after the cuts" % durability)
            code, text = l.verify("--strict")
            said = len(re.findall("durability was %s, so acknowledged" % durability, text))
            check(code == 3 and (said == 0 if durability == "full" else said > 0), "%s: the verifier tells what the crashes may have cost (%d times)" % (durability, said))
        finally:
            l.remove()


def kill_only():
    """A signer that is killed, on a machine that runs on, loses nothing."""
    for durability in ("relaxed", "none"):
        l = Cut()
        try:
            l.start("--linger-ms", "60000")
            d = channel(l, durability)
            acked = runs(d, 10)
            l.kill()
            d.communicate()
            l.start("--linger-ms", "100")
            d = channel(l, durability)
            d.ask("denial " + RUN % 99)
            d.communicate()
            l.wait()
            import hashlib
            leaves = [hashlib.sha256(b"\0" + x).hexdigest() for x in l.bytes().splitlines()]
            check(all(leaves[s] == leaf for s, leaf in acked), "%s: kill -9 loses nothing acknowledged" % durability)
            l.good("%s, killed" % durability)
        finally:
            l.remove()


def sync_fails():
    """Within the second the sync fails: the signer stops, and says so."""
    l = Log()
    try:
        l.start("--linger-ms", "0")
        l.wait()
        l.start("--linger-ms", "60000", env={"LD_PRELOAD": SHIM, "FAULT": "fdatasync:5:3"})
        d = channel(l, "relaxed")
        a = d.ask("denial " + RUN % 1)
        d.ask("denial " + RUN % 2)
        check(a[0] == "stored" and l.wait() == 1, "a sync that fails later ends the signer")
        said = open(l.path("stderr")).read()
        check("sync" in said, "with a line that says why: " + said.strip())
        d.communicate()
    finally:
        l.remove()


syncs()
mixed()
kill_only()
sync_fails()
power_cuts()
finish()
