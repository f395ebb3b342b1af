"""Requests that are never judged: each is decided, recorded, and limited.

Run as: python3 test_refusal.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import hashlib
import os
import time

import wire
from lib import case, check, equal, main, need_programs, need_root, wait_for
from public import Service, as_user

ALICE, BOB = 987001, 987002


def denials(service):
    return [r for r in service.place.records() if r["type"] == "denial"]


def raw_of(message):
    return {"sha256": hashlib.sha256(message).hexdigest(),
            "size": len(message)}


@case("what cannot be decoded is a denial with the digest of its bytes")
def _():
    s = Service()
    good = wire.run(5, "bash", label="x")
    wrong = [good[:-1], good + b"\0", good[:2], good[:30] + b"\0" * 200,
             wire.run(5, "bash", label="a\0b"), wire.run(5, "x" * 200),
             good + b"x" * 100000]
    c = s.client()
    for number, message in enumerate(wrong, 1):
        c.send(message, [wire.sealed(b"echo ran"), wire.sealed(b"")])
        verb, answer = c.receive()
        equal((verb, answer["request"]), (wire.FAILED, 0), "answer")
        found = denials(s)
        equal(len(found), number, "denials")
        d = found[-1]
        equal((d["reasons"], d["raw"], d["principal"]["uid"]),
              (["request.malformed"], raw_of(message), 0), "record")
        check(d["req"] in answer["text"], "%r" % answer)
    # The same connection goes on.
    _, out, end = c.run("bash", b"echo fine")
    equal((end["status"], out), ("ok", b"fine\n"), "afterwards")


@case("a request with bad members is a denial that its sender hears of")
def _():
    s = Service()
    code, nothing = wire.sealed(b"echo ran"), wire.sealed(b"")
    unsealed = os.memfd_create("open", os.MFD_ALLOW_SEALING)
    pipe = os.pipe()
    twice = [("wall_ms", 1000), ("wall_ms", 1000)]
    for message, fds in (
            (wire.run(7, "bash"), ()), (wire.run(7, "bash"), (code,)),
            (wire.run(7, "bash"), (code, nothing, code)),
            (wire.run(7, "bash"), (unsealed, nothing)),
            (wire.run(7, "bash"), (code, pipe[0])),
            (wire.run(7, "bash", limits=[("wal_ms", 1)]), (code, nothing)),
            (wire.run(7, "bash", limits=twice), (code, nothing)),
            (wire.run(7, "bash", args=b"no end"), (code, nothing)),
            (wire.run(7, "bash", label="%zz"), (code, nothing))):
        c = s.client()
        c.send(message, fds)
        verb, answer = c.receive()
        equal((verb, answer["request"], answer["allow"], answer["reasons"]),
              (wire.DECIDED, 7, 0, ["request.malformed"]), "%r" % message)
        d = denials(s)[-1]
        equal((d["reasons"], d["raw"], d["seq"], d["req"]),
              (["request.malformed"], raw_of(message), answer["seq"],
               answer["run_id"]), "record of %r" % message)
        c.close()
    equal([r for r in s.place.records() if r["type"] == "intent"], [], "runs")


@case("a run before the greeting is a denial, too")
def _():
    s = Service()
    message = wire.run(1, "bash")

    def ask():
        c = s.client(greet=False)
        c.send(message, [wire.sealed(b"echo ran"), wire.sealed(b"")])
        equal(c.receive()[0], wire.FAILED, "answer")
        equal(c.receive()[0], None, "end")

    as_user(ALICE, ask)
    d, = wait_for(lambda: denials(s), "the record")
    equal((d["reasons"], d["raw"], d["principal"]["uid"]),
          (["request.malformed"], raw_of(message), ALICE), "record")


@case("a request for which there is no room is a denial with what is known")
def _():
    s = Service(concurrency={"runs": 1, "queue": 0})
    c = s.client()
    fds = [wire.sealed(b"sleep 1000"), wire.sealed(b"")]
    c.send(wire.run(1, "bash"), fds)
    equal(c.receive()[1]["allow"], 1, "the first")
    c.send(wire.run(2, "bash", label="second"), fds)
    verb, answer = c.receive()
    equal((verb, answer["request"], answer["allow"], answer["reasons"]),
          (wire.DECIDED, 2, 0, ["concurrency.busy"]), "answer")
    d = denials(s)[-1]
    equal((d["reasons"], d["seq"], d["claims"]["label"]),
          (["concurrency.busy"], answer["seq"], "second"), "record")
    check("limits" in d and "raw" not in d, "%r" % d)
    c.close()
    wait_for(lambda: [r for r in s.place.records()
                      if r["type"] == "outcome"], "the end of the first")


def hold(service, uid, n):
    """As 'uid', send 'n' runs that last; their decisions so far."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            c = service.client()
            fds = [wire.sealed(b"sleep 1000"), wire.sealed(b"")]
            for number in range(n):
                c.send(wire.run(number, "bash"), fds)
            c.socket.settimeout(3)
            try:
                while True:
                    verb, answer = c.receive()
                    if verb == wire.DECIDED:
                        os.write(w, b"%d %s\n" % (
                            answer["request"],
                            b" ".join(x.encode() for x in answer["reasons"])))
            except TimeoutError:
                os.write(w, b"waiting\n")
            time.sleep(1000)
        finally:
            os._exit(1)
    os.close(w)
    lines = []
    with os.fdopen(r) as f:
        for line in f:
            if line == "waiting\n":
                break
            lines.append(line.strip())
    return pid, lines


@case("one account takes half of the room, and others still get in")
def _():
    for share, granted in (({}, 2), ({"per_principal": 3}, 3),
                           ({"per_principal": "unlimited"}, 4)):
        s = Service(concurrency=dict(runs=1, queue=3, **share))
        denied = ["%d concurrency.%s" % (number, "principal" if granted < 4
                                         else "busy")
                  for number in range(granted, 6)]
        alice, lines = hold(s, ALICE, 6)
        try:
            equal(sorted(lines), ["0"] + denied, "decisions of %r" % share)
            bob, lines = hold(s, BOB, 1)
            os.kill(bob, 9)
            os.waitpid(bob, 0)
            equal(lines, ["0 concurrency.busy"] if granted == 4 else [],
                  "the other's")
        finally:
            os.kill(alice, 9)
            os.waitpid(alice, 0)
        equal({(d["principal"]["uid"], d["reasons"][0]) for d in denials(s)
               if d["principal"]["uid"] == ALICE},
              {(ALICE, denied[0].split()[1])}, "records")


@case("root is not limited to a share")
def _():
    s = Service(concurrency={"runs": 1, "queue": 3, "per_principal": 1})
    root, lines = hold(s, 0, 5)
    os.kill(root, 9)
    os.waitpid(root, 0)
    equal(sorted(lines), ["0", "4 concurrency.busy"], "decisions")


@case("the eleventh refusal in a second closes its channel, and no other")
def _():
    s = Service()
    other = s.client()
    for turn in range(5):
        before = len(denials(s))
        c = s.client()
        start = time.monotonic()
        for _ in range(40):
            try:
                c.send(wire.run(1, "bash"))
            except OSError:
                break
        reasons = []
        while True:
            try:
                verb, answer = c.receive()
            except OSError:
                break
            if verb is None:
                break
            reasons += answer.get("reasons", [])
        if time.monotonic() - start < 0.9:
            break
        check(turn < 4, "this machine is too slow to tell")
    found = wait_for(lambda: len(denials(s)) >= before + 11 and denials(s),
                     "eleven records")[before:]
    equal([d["reasons"] for d in found],
          [["request.malformed"]] * 10 + [["request.flood"]], "records")
    check(set(reasons) <= {"request.malformed"}, "%r" % reasons)
    _, out, end = other.run("bash", b"echo fine")
    equal((end["status"], out), ("ok", b"fine\n"), "the other")


@case("ten refusals a second, again and again, close nothing")
def _():
    s = Service()
    c = s.client()
    for _ in range(2):
        for _ in range(10):
            c.send(wire.run(1, "bash"))
            equal(c.receive()[1]["reasons"], ["request.malformed"], "reason")
        time.sleep(1.1)
    equal(len(denials(s)), 20, "records")
    equal(s.place.verify().code, 0, "verify")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
    main()
