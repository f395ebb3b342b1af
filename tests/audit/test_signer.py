"""bailiff-signer: it works, it refuses, it survives abuse.  Needs root only for
the cases that say so; needs Go's x/mod for the independent verdict."""
import ctypes
import errno
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signer_harness import BUILD, Log, check, finish, need_go  # noqa: E402

need_go()
RUN = "%032x"


def records_and_receipts():
    l = Log()
    try:
        check(l.start("--linger-ms", "200") == "ready\n", "a new log is created")
        check(oct(os.stat(l.path("keys/log.key")).st_mode & 0o7777) == "0o600", "log.key has mode 0600")
        me = RUN % 7
        d = l.driver(me)
        ask = lambda line: (d.stdin.write(line + "\n"), d.stdin.flush(), d.stdout.readline().split())[2]
        check(d.stdout.readline() == "welcome 0\n", "a new log has no record")
        check(ask("odd " + RUN % 3)[:2] == ["refused", "2"], "a text outside the profile is refused")
        check(l.bytes() == b"" and l.go()[0] == 0, "what is refused opens no epoch; a log of nothing is good")
        seq, leaf = ask("intent " + RUN % 1)[1:]
        check(seq == "1", "log.open is record 0, the intent record 1")
        check(ask("intent " + RUN % 1)[:2] == ["refused", "5"], "a run id is used once")
        check(ask("outcome %s %s %s" % (RUN % 2, seq, leaf))[:2] == ["refused", "5"], "no outcome without its intent")
        check(ask("outcome %s %s %s" % (RUN % 1, seq, "00" * 32))[:2] == ["refused", "5"], "no outcome with another leaf")
        check(ask("outcome %s %s %s" % (RUN % 1, 0, leaf))[:2] == ["refused", "5"], "nor with another seq")
        other = l.driver(RUN % 8)
        out, _ = other.communicate("outcome %s %s %s\n" % (RUN % 1, seq, leaf))
        check(out.splitlines()[1].startswith("refused 5"), "another instance cannot end the run")
        os.mkdir(l.path("r"))
        check(ask("outcome %s %s %s %s" % (RUN % 1, seq, leaf, l.path("r")))[0] == "stored", "an outcome is stored")
        check(ask("outcome %s %s %s" % (RUN % 1, seq, leaf))[:2] == ["refused", "5"], "one outcome for one intent")
        seq, leaf = ask("intent " + RUN % 4)[1:]
        check(ask("big %s %s %s" % (RUN % 4, seq, leaf))[0] == "stored", "64 artifacts with long names fit")
        check(ask("denial " + RUN % 5)[0] == "stored", "a denial is stored")
        seq, leaf = ask("intent " + RUN % 6)[1:]
        same = l.say("outcome %s %s %s" % (RUN % 6, seq, leaf), instance=me)
        check(same[1].startswith("stored"), "another channel of the same instance may end the run")
        check(ask("garbage")[0] in ("refused", "closed"), "bytes that are no message end the channel")
        d.communicate()
        check(l.wait() == 0, "idle for linger-ms: exit 0")
        l.good("records and receipts")
        code, text = l.go(l.path("r/proof"), l.path("r/line"))
        check(code == 0, "Go accepts the receipt" + ("" if code == 0 else ": " + text))
        check(l.types()[-1] == "epoch.close", "a signer that stops ends its epoch")
        names = sorted(os.listdir(l.path("keys")))
        check(names == ["log.key", "record-1.key", "record-2.key"], "keys of epochs that are over are gone: %s" % names)
        before = l.bytes()
        l.start("--linger-ms", "0")
        check(l.wait() == 0 and l.bytes() == before, "a signer that wrote nothing writes no close")
        l.start("--linger-ms", "50")
        l.say("denial " + RUN % 9)
        l.wait()
        check(l.types()[-3:] == ["epoch.open", "denial", "epoch.close"], "the next start opens the next epoch with its first record")
        l.good("second epoch")
        salts = [os.path.getsize(l.path("audit/salts", n)) for n in sorted(os.listdir(l.path("audit/salts")))]
        check(salts == [120, 0], "one salt of 40 bytes per intent: %s" % salts)
        check(commits_open(l), "commitments open with their salts")
    finally:
        l.remove()


def commits_open(l):
    import hashlib
    import hmac
    salts = open(l.path("audit/salts/0"), "rb").read()
    by_seq = {int.from_bytes(salts[i:i + 8], "big"): salts[i + 8:i + 40] for i in range(0, len(salts), 40)}
    good = 0
    for line in l.bytes().splitlines():
        p = json.loads(line)["stmt"]["predicate"]
        if p["type"] != "intent":
            continue
        # The driver says a digest of zeros for each secret.
        want = hmac.new(by_seq[p["seq"]], bytes(32), hashlib.sha256).hexdigest()
        good += all(p[k]["commit"] == "hmac-sha256:" + want for k in ("stdin", "args", "env"))
    return good == 3


def many_clients():
    l = Log()
    try:
        l.start("--linger-ms", "200")
        ds = [l.driver() for _ in range(20)]
        for d in ds:
            d.stdin.write("runs 15\n")
            d.stdin.flush()
        flood = l.driver()
        flood.stdin.write("flood 500\n")
        flood.stdin.flush()
        out = [d.communicate()[0].splitlines()[1:] for d in ds + [flood]]
        answers = [a.split() for o in out for a in o]
        check(len(answers) == 20 * 30 + 500 and all(a[0] in ("intent", "outcome", "denial") for a in answers),
            "20 clients and a flood: every event is answered by STORED")
        seqs = sorted(int(a[1]) for a in answers)
        check(len(set(seqs)) == len(seqs), "no sequence number is given twice")
        check(l.wait() == 0, "it ends when all have left")
        l.good("20 clients at once")
    finally:
        l.remove()


def second_signer():
    l = Log()
    try:
        l.start("--linger-ms", "60000")
        first = l.process
        line = l.start(new=False)
        check(l.wait() == 75, "a second signer exits 75")
        check("pid %d" % first.pid in line, "and names the first: " + line.strip())
        l.process = first
        check(l.stop() == 0, "SIGTERM: exit 0")
    finally:
        l.remove()


def refusals():
    for name, mode, what in (("audit", 0o770, "audit/"), ("keys", 0o702, "keys/"), ("state", 0o720, "state/"), ("pin", 0o722, "pin")):
        l = Log()
        try:
            os.chmod(l.path(name), mode)
            line = l.start()
            check(line.startswith("error: ") and what in line and l.wait() == 1, "%s writable by others is refused" % name)
        finally:
            l.remove()
    l = Log()
    try:
        l.start("--linger-ms", "50")
        l.say("denial " + RUN % 1)
        l.wait()
        for name, mode in (("audit/log/000000.jsonl", 0o660), ("audit/log", 0o770), ("keys/log.key", 0o640), ("state/head", 0o602), ("keys/record-1.key", 0o644)):
            old = os.stat(l.path(name)).st_mode & 0o7777
            os.chmod(l.path(name), mode)
            line = l.start()
            check(line.startswith("error: ") and l.wait() == 1, "%s with mode %o is refused" % (name, mode))
            os.chmod(l.path(name), old)
        if os.geteuid() == 0:
            os.chown(l.path("audit/log/000000.jsonl"), 12345, -1)
            line = l.start()
            check(line.startswith("error: ") and l.wait() == 1, "a log of another uid is refused")
            os.chown(l.path("audit/log/000000.jsonl"), 0, -1)
        os.rename(l.path("state/head"), l.path("head"))
        os.symlink(l.path("head"), l.path("state/head"))
        check(l.start().startswith("error: ") and l.wait() == 1, "a link in place of a file is refused")
        os.unlink(l.path("state/head"))
        os.link(l.path("head"), l.path("state/head"))
        check(l.start().startswith("error: ") and l.wait() == 1, "a file with two names is refused")
        os.unlink(l.path("head"))
        check(l.start("--new-log", "00" * 16).startswith("error: ") and l.wait() == 1, "--new-log on a log that exists is refused")
        check(l.start("--frobnicate").startswith("error: ") and l.wait() == 2, "an unknown option: exit 2")
        check(l.start("--linger-ms", "0") == "ready\n" and l.wait() == 0, "and after all that it still starts")
        l.good("after refusals")
    finally:
        l.remove()


def rollback():
    l = Log()
    try:
        l.start("--linger-ms", "50")
        l.say("runs 3")
        l.wait()
        whole = l.bytes()
        lines = whole.splitlines(keepends=True)
        log = l.path("audit/log/000000.jsonl")
        put = lambda data: open(log, "wb").write(data)
        put(b"".join(lines[:-2]))
        line = l.start()
        check("rolled back" in line and l.wait() == 1, "a log cut by two records is refused: " + line.strip())
        head = open(l.path("state/head"), "rb").read()
        os.unlink(l.path("state/head"))
        line = l.start()
        check("rolled back" in line and l.wait() == 1, "also without state/head: " + line.strip())
        note = open(l.path("audit/checkpoint"), "rb").read()
        os.unlink(l.path("audit/checkpoint"))
        line = l.start()
        check("error: " in line and l.wait() == 1, "without both nothing is believed: " + line.strip())
        open(l.path("audit/checkpoint"), "wb").write(note)
        put(whole.replace(b'"denial"', b'"deniaI"') if b'"denial"' in whole else whole[:500] + b"X" + whole[501:])
        line = l.start()
        check("error: " in line and l.wait() == 1, "an edited record is refused: " + line.strip())
        put(whole)
        check(l.start("--linger-ms", "50") == "ready\n", "a lost state/head is rebuilt from the front")
        l.say("denial " + RUN % 3)
        check(l.wait() == 0 and l.types()[-2] == "denial", "and the log goes on")
        l.good("rebuilt head")
        open(l.path("state/head"), "wb").write(head)
        check(l.start("--linger-ms", "50") == "ready\n", "an old head costs a longer tail, nothing else")
        check(l.say("denial " + RUN % 3)[1].startswith("refused"), "run ids read from the tail are remembered")
        l.wait()
        l.good("old head")
        open(l.path("state/head"), "wb").write(b"garbage")
        check(l.start("--linger-ms", "0") == "ready\n" and l.wait() == 0, "a damaged head is rebuilt")
        first, second = sorted(n for n in os.listdir(l.path("keys")) if n.startswith("record"))
        os.rename(l.path("keys", first), l.path("gone"))
        line = l.start()
        check("error: " in line and l.wait() == 1, "a missing announced key is refused: " + line.strip())
        os.rename(l.path("keys", second), l.path("keys", first))
        line = l.start()
        check("error: " in line and l.wait() == 1, "another key is refused: " + line.strip())
    finally:
        l.remove()


def torn_at(l, whole, saved, cut, starts):
    """What is wrong with the log after a start that found it cut there; "" if nothing is."""
    parts = ("audit", "keys", "state", "pin")
    subprocess.run(["rm", "-rf"] + [l.path(n) for n in parts], check=True)
    subprocess.run(["tar", "-C", l.dir, "-xf", "-"], input=saved, check=True)
    with open(l.path("audit/log/000000.jsonl"), "r+b") as f:
        f.truncate(cut)
    if l.start("--linger-ms", "60000") != "ready\n":
        return "start"
    l.say("denial " + RUN % 9)
    if l.stop() != 0:
        return "stop"
    kept = max(s for s in starts if s <= cut)
    if not l.bytes().startswith(whole[:kept]):
        return "lost"
    folder = l.path("audit/quarantine")
    torn = [open(os.path.join(folder, n), "rb").read() for n in os.listdir(folder)] if os.path.isdir(folder) else []
    if torn != ([whole[kept:cut]] if cut != kept else []):
        return "quarantine"
    want = (["epoch.open"] + (["recover"] if cut != kept else []) + (["outcome:aborted"] if kept >= starts[2] else []) +
            ["denial", "epoch.close"])
    types = l.types()
    if types[-len(want):] != want:
        return "records %s" % types
    code, text = l.go()
    return text if code != 0 else ""


def torn_tail():
    """Cut at every byte of the last three records, as a power cut may."""
    l = Log()
    try:
        l.start("--linger-ms", "60000")
        l.say("denial " + RUN % 1)
        shutil.copy(l.path("state/head"), l.path("old-head"))
        d = l.driver()
        for line in ("denial " + RUN % 2, "intent " + RUN % 3, "denial " + RUN % 4):
            d.stdin.write(line + "\n")
            d.stdin.flush()
            while not d.stdout.readline().startswith("stored"):
                pass
        l.kill()
        d.communicate()
        # A power cut keeps what was synced last: the head of before the three, and
        # here no checkpoint at all.
        os.rename(l.path("old-head"), l.path("state/head"))
        os.unlink(l.path("audit/checkpoint"))
        whole = l.bytes()
        starts = [len(whole)]
        while len(starts) < 4:
            starts.insert(0, whole.rindex(b"\n", 0, starts[0] - 1) + 1)
        saved = subprocess.run(["tar", "-C", l.dir, "-cf", "-", "audit", "keys", "state", "pin"], stdout=subprocess.PIPE, check=True).stdout
        cuts = range(starts[0], len(whole) + 1)
        if "--long" not in sys.argv:
            cuts = [c for c in cuts if c % 97 == 0 or any(abs(c - s) < 3 for s in starts)]
        bad = [(cut, why) for cut, why in ((c, torn_at(l, whole, saved, c, starts)) for c in cuts) if why]
        check(not bad, "cut at %d places of the last three records: kept, set aside, recorded %s" % (len(cuts), bad[:3]))
        l.good("after the last cut")
    finally:
        l.remove()


def forged_tail():
    """Beyond the checkpoint only signatures vouch for a record."""
    l = Log()
    try:
        l.start("--linger-ms", "60000")
        d = l.driver()
        d.stdin.write("intent %s\n" % (RUN % 2))
        d.stdin.flush()
        d.stdout.readline()
        d.stdout.readline()
        l.kill()
        d.communicate()
        whole = l.bytes()
        os.unlink(l.path("audit/checkpoint"))
        cut = whole.rindex(b'"unlimited"')
        open(l.path("audit/log/000000.jsonl"), "wb").write(whole[:cut] + b'"unlimiteD"' + whole[cut + 11:])
        line = l.start()
        check("signature" in line and l.wait() == 1, "a record of the tail that was edited is refused: " + line.strip())
        open(l.path("audit/log/000000.jsonl"), "wb").write(whole)
        check(l.start("--linger-ms", "0") == "ready\n" and l.wait() == 0, "the true one is taken")
        check(l.go()[0] == 5, "its run is still open: incomplete")
    finally:
        l.remove()


def zeros_at_the_end():
    l = Log()
    try:
        l.start("--linger-ms", "50")
        l.say("runs 2")
        l.wait()
        with open(l.path("audit/log/000000.jsonl"), "ab") as f:
            f.write(bytes(3000))
        check(l.go()[0] == 5, "zeros at the end: incomplete")
        l.start("--linger-ms", "50")
        l.say("denial " + RUN % 3)
        l.wait()
        check(l.types()[-3:] == ["recover", "denial", "epoch.close"], "blocks that were never written are set aside")
        l.good("after zeros")
    finally:
        l.remove()


def kill_rounds(rounds, clients):
    """kill -9 at random moments: no acknowledged record is ever lost."""
    l = Log()
    rng = random.Random(20261130)
    acked, lost, bad = {}, 0, []
    try:
        for r in range(rounds):
            if l.start("--linger-ms", "60000") != "ready\n":
                bad.append("start %d" % r)
                break
            ds = [l.driver() for _ in range(clients)]
            for d in ds:
                d.stdin.write("runs 100000\n")
                d.stdin.flush()
            time.sleep(rng.uniform(0.02, 0.3))
            l.kill()
            for d in ds:
                for a in d.communicate()[0].splitlines():
                    w = a.split()
                    if w[0] in ("intent", "outcome"):
                        acked[int(w[1])] = w[2]
            code, text = l.go()
            if code not in (0, 5):
                bad.append("round %d: Go says %d %s" % (r, code, text))
        l.start("--linger-ms", "100")
        l.say("denial " + RUN % 1)
        check(l.wait() == 0, "the last start ends well")
        leaves = {}
        import hashlib
        for i, line in enumerate(l.bytes().splitlines()):
            leaves[i] = hashlib.sha256(b"\0" + line).hexdigest()
        lost = sum(1 for seq, leaf in acked.items() if leaves.get(seq) != leaf)
        check(not bad, "kill -9 in %d rounds with %d clients: always 0 or 5 %s" % (rounds, clients, bad[:2]))
        check(lost == 0 and len(acked) > rounds, "%d acknowledged records, %d lost" % (len(acked), lost))
        types = l.types()
        check(types.count("intent") == sum(t.startswith("outcome") for t in types), "every intent has its outcome after the last start")
        l.good("after %d kills" % rounds)
    finally:
        l.remove()


def supervisor_dies():
    l = Log()
    try:
        l.start("--linger-ms", "60000")
        d = l.driver()
        d.stdin.write("".join("intent %s\n" % (RUN % i) for i in range(1, 21)))
        d.stdin.flush()
        for _ in range(21):
            d.stdout.readline()
        d.kill()
        d.wait()
        for _ in range(100):
            if l.types().count("outcome:aborted") == 20:
                break
            time.sleep(0.1)
        check(l.types().count("outcome:aborted") == 20, "its channel closes: the signer aborts its 20 open runs")
        p = json.loads(l.bytes().splitlines()[-1])["stmt"]["predicate"]
        check(p["killed_by"] == "supervisor" and "exit" not in p, "killed_by supervisor, and nothing it did not see")
        check(l.stop() == 0, "stops")
        l.good("supervisor died")
        # The same with the signer killed first: found at a start, killed_by absent.
        l.start("--linger-ms", "60000")
        d = l.driver()
        d.stdin.write("intent %s\n" % (RUN % 99))
        d.stdin.flush()
        d.stdout.readline()
        d.stdout.readline()
        l.kill()
        d.communicate()
        check(l.go()[0] == 5, "an open intent after a crash: incomplete")
        l.start("--linger-ms", "50")
        l.say("denial " + RUN % 100)
        l.wait()
        p = json.loads(l.bytes().splitlines()[-3])["stmt"]["predicate"]
        check(p["type"] == "outcome" and p["status"] == "aborted" and "killed_by" not in p, "a start aborts what it found open")
        l.good("signer died")
    finally:
        l.remove()


def meddling():
    for what in ("append", "chmod", "rename"):
        l = Log()
        try:
            l.start("--linger-ms", "60000")
            d = l.driver()
            d.stdin.write("denial %s\n" % (RUN % 1))
            d.stdin.flush()
            d.stdout.readline()
            d.stdout.readline()
            log = l.path("audit/log/000000.jsonl")
            if what == "append":
                open(log, "ab").write(b"x")
            elif what == "chmod":
                os.chmod(log, 0o666)
            else:
                data = l.bytes()
                os.rename(log, log + ".old")
                open(log, "wb").write(data)
            out, _ = d.communicate("denial %s\n" % (RUN % 2))
            check("stored" not in out and l.wait() == 1, "%s on the log while it is written stops the signer" % what)
        finally:
            l.remove()


def full_disk():
    if os.geteuid() != 0:
        print("skip  full disk: needs root to mount a tmpfs")
        return
    libc = ctypes.CDLL(None, use_errno=True)
    where = tempfile.mkdtemp(prefix="bailiff-signer-disk-")
    if libc.mount(b"tmpfs", where.encode(), b"tmpfs", 0, b"size=4m,mode=0700") != 0:
        print("skip  full disk: cannot mount a tmpfs here")
        os.rmdir(where)
        return
    l = Log(where)
    filler = os.path.join(where, "filler")
    try:
        check(l.start("--linger-ms", "60000") == "ready\n", "a log on a disk of 4 MiB")
        me = RUN % 7
        d = l.driver(me)
        d.stdout.readline()
        ask = lambda line: (d.stdin.write(line + "\n"), d.stdin.flush(), d.stdout.readline().split())[2]
        seq, leaf = ask("intent " + RUN % 1)[1:]
        f = os.open(filler, os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(f, bytes(4096))
        except OSError:
            os.close(f)
        refused = None
        stored = 0
        for i in range(1000, 5000):
            answer = ask("denial " + RUN % i)
            if answer[0] == "refused":
                refused = answer
                break
            stored += 1
        check(refused is not None and refused[1] == "4" and "space" in refused, "a full disk refuses new work: %s" % " ".join(refused or []))
        check(ask("intent " + RUN % 500)[0] == "refused", "also intents")
        check(ask("big %s %s %s" % (RUN % 1, seq, leaf))[0] == "stored", "an open run still ends: its outcome has the reserve")
        os.unlink(filler)
        check(ask("denial " + RUN % 600)[0] == "stored", "space again: work again")
        d.communicate()
        check(l.stop() == 0, "stops")
        l.good("after a full disk")
    finally:
        l.remove()
        libc.umount2(where.encode(), 2)
        os.rmdir(where)


def strangers():
    if os.geteuid() != 0:
        print("skip  strangers: needs root to be somebody else")
        return
    l = Log()
    try:
        l.start("--linger-ms", "60000")
        os.chmod(l.dir, 0o711)
        os.chmod(l.socket, 0o777)
        d = l.driver(user=65534, group=65534)
        out, _ = d.communicate("denial %s\n" % (RUN % 1))
        check(out.startswith("closed"), "another uid gets no channel, even past the socket's mode")
        with open("/proc/%d/status" % l.process.pid) as f:
            status = dict(x.split(":\t", 1) for x in f.read().splitlines() if ":\t" in x)
        check(status["Seccomp"].strip() == "2" and status["NoNewPrivs"].strip() == "1", "the signer runs under seccomp and no_new_privs")
        # A client that connects and says nothing holds nobody up.
        mute = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(10)]
        for m in mute:
            m.connect(l.socket)
        check(l.say("runs 2")[-1].startswith("outcome"), "ten mute channels hold nobody up")
        for m in mute:
            m.close()
        l.stop()
        l.good("strangers")
    finally:
        l.remove()


def stop_with_open_runs():
    l = Log()
    try:
        l.start("--linger-ms", "60000")
        d = l.driver()
        d.stdin.write("intent %s\n" % (RUN % 1))
        d.stdin.flush()
        d.stdout.readline()
        d.stdout.readline()
        check(l.stop() == 0, "SIGTERM with an open run: exit 0")
        d.communicate()
        check(l.types()[-2:] == ["outcome:aborted", "epoch.close"], "its run is aborted, the epoch ended")
        l.good("stopped with an open run")
    finally:
        l.remove()


def long_epoch():
    """More than 10,000 records: the epoch ends by itself."""
    l = Log()
    try:
        l.start("--linger-ms", "100")
        ds = [l.driver() for _ in range(4)]
        for d in ds:
            d.stdin.write("flood 2700\n")
            d.stdin.flush()
        n = sum(a.startswith("denial") for d in ds for a in d.communicate()[0].splitlines())
        check(n == 4 * 2700 and l.wait() == 0, "%d denials stored" % n)
        types = l.types()
        check(types[10000] == "epoch.close" and types[10001] == "epoch.open", "epoch 0 ends after 10,000 records")
        l.good("10,800 records")
    finally:
        l.remove()


def own_uid():
    """As a root supervisor starts it: under a uid of its own."""
    if os.geteuid() != 0:
        print("skip  own uid: needs root")
        return
    l = Log(user=1900000001)
    try:
        check(l.start("--linger-ms", "60000") == "ready\n", "it runs under the signer's uid")
        with open("/proc/%d/status" % l.process.pid) as f:
            status = dict(x.split(":\t", 1) for x in f.read().splitlines() if ":\t" in x)
        check(status["Uid"].split() == ["1900000001"] * 4 and int(status["VmLck"].split()[0]) > 0, "its keys are in locked memory")
        check(l.say("runs 2")[-1].startswith("outcome"), "root may speak to it")
        check(l.say("runs 2") != [] and l.stop() == 0, "stops")
        l.good("own uid")
    finally:
        l.remove()


# After these a signer may go on; after any other it must have stopped, since a
# write error that was told once is forgotten by the kernel.
MAY_GO_ON = {"ENOSPC", "EINTR", "EPIPE", "ECONNRESET", "EAGAIN", "EFBIG"}


def faults():
    """System calls that fail: nothing is acknowledged that is not on disk."""
    shim = os.path.join(BUILD, "tests/fault_preload.so")
    if not os.path.exists(shim):
        print("skip  faults: tests/fault_preload.so is not built")
        return
    table = {"write": ("EIO", "ENOSPC", "EINTR", "EFBIG"), "fdatasync": ("EIO", "ENOSPC"), "fsync": ("EIO",),
        "renameat": ("EIO", "ENOSPC"), "ftruncate": ("EIO",), "fallocate": ("ENOSPC", "EOPNOTSUPP"), "unlinkat": ("EIO",),
        "sendmsg": ("EPIPE", "EAGAIN"), "recvmsg": ("ECONNRESET", "EINTR"), "poll": ("ENOMEM", "EINTR")}
    cases = [(call, error, n) for call in table for error in table[call] for n in (range(1, 13) if "--long" in sys.argv else (1, 2, 6))]
    bad = []
    for call, error, n in cases:
        l = Log()
        try:
            l.start("--linger-ms", "0")
            l.wait()
            if l.start("--linger-ms", "60000", env={"LD_PRELOAD": shim, "FAULT": "%s:%d:%d" % (call, getattr(errno, error), n)}) != "ready\n":
                bad.append((call, error, n, "start"))
                continue
            acked = {}
            for w in (a.split() for _ in range(2) for a in l.say("runs 3")):
                if w[0] in ("intent", "outcome"):
                    acked[int(w[1])] = w[2]
            on = l.say("denial " + RUN % 2)[-1].startswith("stored")
            code = l.stop() if on else l.process.poll()
            if error in MAY_GO_ON and call != "fdatasync" and not on:
                bad.append((call, error, n, "does not go on", code))
            if call == "fdatasync" and n == 1 and (on or acked or code != 1):
                bad.append((call, error, n, "goes on after a sync that failed", acked))
            if code is not None and code < 0:
                bad.append((call, error, n, "died of a signal", code))
            if l.process.poll() is None:
                l.stop()
            code, text = l.go()
            if code not in (0, 5):
                bad.append((call, error, n, code, text))
            if l.start("--linger-ms", "100") != "ready\n":
                bad.append((call, error, n, "does not start again", open(l.path("stderr")).read()))
                continue
            l.say("denial " + RUN % 1)
            l.wait()
            leaves = [hashlib.sha256(b"\0" + x).hexdigest() for x in l.bytes().splitlines()]
            lost = [s for s, leaf in acked.items() if s >= len(leaves) or leaves[s] != leaf]
            code, text = l.go()
            if lost or code != 0:
                bad.append((call, error, n, lost, text))
        finally:
            l.remove()
    check(not bad, "%d faults in the append path: 0 or 5, nothing lost, goes on %s" % (len(cases), bad[:6]))


def killed_calls():
    """It dies just before or just after a call of the append path: what was
    acknowledged is there, and the next start goes on."""
    shim = os.path.join(BUILD, "tests/fault_preload.so")
    calls = ("write", "fdatasync", "fsync", "renameat", "ftruncate", "fallocate", "unlinkat", "sendmsg")
    bad, died = [], 0
    for call, when, n in [(c, w, n) for c in calls for w in (0, -1) for n in (range(1, 13) if "--long" in sys.argv else (1, 3))]:
        l = Log()
        try:
            if l.start("--linger-ms", "60000", env={"LD_PRELOAD": shim, "FAULT": "%s:%d:%d" % (call, when, n)}) != "ready\n":
                bad.append((call, when, n, "start"))
                continue
            acked = {}
            for w in (a.split() for a in l.say("runs 3")):
                if w[0] in ("intent", "outcome"):
                    acked[int(w[1])] = w[2]
            if l.process.poll() is None:
                l.stop()
            died += l.process.wait(60) < 0
            code, text = l.go()
            if code not in (0, 5):
                bad.append((call, when, n, code, text))
            if l.start("--linger-ms", "100") != "ready\n":
                bad.append((call, when, n, "does not start again", open(l.path("stderr")).read()))
                continue
            l.say("denial " + RUN % 1)
            l.wait()
            leaves = [hashlib.sha256(b"\0" + x).hexdigest() for x in l.bytes().splitlines()]
            if [s for s, leaf in acked.items() if s >= len(leaves) or leaves[s] != leaf] or l.go()[0] != 0:
                bad.append((call, when, n, acked, l.go()))
        finally:
            l.remove()
    check(not bad and died >= 16, "killed before and after calls of the append path, %d times: 0 or 5, nothing acknowledged lost, goes on %s" % (died, bad[:4]))


records_and_receipts()
own_uid()
second_signer()
refusals()
rollback()
torn_tail()
forged_tail()
zeros_at_the_end()
supervisor_dies()
stop_with_open_runs()
meddling()
full_disk()
strangers()
many_clients()
long_epoch()
faults()
killed_calls()
kill_rounds(*((300, 8) if "--long" in sys.argv else (20, 8)))
finish()
