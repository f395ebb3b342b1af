"""A service that any account may reach: principals apart, abuse survived.

The supervisor gets its socket from the test, as systemd would hand it over;
clients of other accounts speak the protocol themselves.

Run as: python3 test_clients.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import ctypes
import json
import os
import random
import socket
import struct
import subprocess
import time

import wire
from lib import (BAILIFF, PATIENCE_S, Skip, case, check, equal, main, need_programs, need_root, status, wait_for)
from public import Service, as_user, listen
from watch import Watch

ALICE, BOB, TEAM = 987001, 987002, 987003


@case("the principal of a run is the uid of its client")
def _():
    s = Service()

    def ask():
        c = s.client()
        first, out, end = c.run("bash", b"id -u; echo hi")
        equal((end["status"], out), ("ok", b"1000\nhi\n"), "run")

    as_user(ALICE, ask, [TEAM])
    intent = [r for r in s.place.records() if r["type"] == "intent"][0]
    equal((intent["principal"]["uid"], intent["principal"]["gid"]),
          (ALICE, ALICE), "principal")


@case("files are opened with the principal's own rights, groups included")
def _():
    s = Service()
    p = s.place
    p.stop()
    os.mkdir(p.path("data"))
    s = Service(paths={"read": [p.path("data")]})
    for name, uid, gid, mode in (("alice", ALICE, ALICE, 0o600),
                                 ("bob", BOB, BOB, 0o600),
                                 ("team", BOB, TEAM, 0o640),
                                 ("root", 0, 0, 0o600),
                                 ("all", 0, 0, 0o644)):
        path = p.write("data/" + name, name)
        os.chown(path, uid, gid)
        os.chmod(path, mode)
    watch = Watch(p.path("data/bob"), p.path("data/root"))

    def ask(name):
        c = s.client()
        got = c.run("bash", b"cat in", inputs=[
            (p.path("data/" + name), "in")])
        c.close()
        return got

    def alice():
        for name in ("alice", "team", "all"):
            first, out, end = ask(name)
            equal(out, name.encode(), name)
        for name in ("bob", "root"):
            first, out, end = ask(name)
            equal((first["allow"], first["reasons"]),
                  (0, ["path.unreadable"]), name)

    def carol():
        first, out, end = ask("team")
        equal((first["allow"], first["reasons"]), (0, ["path.unreadable"]),
              "without the group")

    as_user(ALICE, alice, [TEAM])
    as_user(987004, carol)
    check(watch.quiet(), "a file was opened that was not the principal's")


@case("a directory the principal may not pass hides what it holds")
def _():
    s = Service()
    p = s.place
    os.makedirs(p.path("data/closed"))
    p.write("data/closed/open", "x")
    os.chmod(p.path("data/closed"), 0o700)
    p.stop()
    s = Service(paths={"read": [p.path("data")]})

    def ask():
        c = s.client()
        for name in ("open", "none"):
            first, _, _ = c.run("bash", b"cat in", inputs=[
                (p.path("data/closed/" + name), "in")])
            equal((first["allow"], first["reasons"]),
                  (0, ["path.unreadable"]), name)

    as_user(ALICE, ask)


@case("results go to their principal and to root, to nobody else")
def _():
    s = Service()
    r, w = os.pipe()

    def make():
        c = s.client()
        first, _, _ = c.run("bash", b"echo secret; echo kept > file")
        os.write(w, first["run_id"].encode())

    as_user(ALICE, make)
    run_id = os.read(r, 100).decode()

    def look(wanted):
        def inner():
            c = s.client()
            c.send(wire.list_(5, run_id))
            verb, _ = c.receive()
            equal(verb, wire.ENTRY if wanted else wire.FAILED, "list")
            c.close()
            c = s.client()
            c.send(wire.open_(6, run_id, "stdout"))
            verb, members = c.receive()
            equal(verb, wire.OPENED if wanted else wire.FAILED, "open")
            if wanted:
                equal(os.read(members["fd"], 100), b"secret\n", "content")
                try:
                    os.write(members["fd"], b"x")
                    raise AssertionError("the descriptor is writable")
                except OSError:
                    pass
            else:
                # The same words as for a run that never was.
                c.send(wire.open_(6, "r_" + "0" * 32, "stdout"))
                _, other = c.receive()
                equal(members["text"].replace(run_id, "X"),
                      other["text"].replace("r_" + "0" * 32, "X"), "words")

        return inner

    as_user(ALICE, look(True))
    as_user(BOB, look(False))
    look(True)()


@case("only root and the service's own account may stop it")
def _():
    s = Service()

    def ask():
        c = s.client()
        c.send(wire.stop(9))
        verb, members = c.receive()
        equal(verb, wire.FAILED, "answer")

    as_user(ALICE, ask)
    s.alive()
    c = s.client()
    c.send(wire.stop(9))
    equal(c.receive()[0], wire.STOPPED, "root's answer")
    equal(s.process.wait(PATIENCE_S), 0, "exit")


@case("what is no greeting is not served, and others are")
def _():
    s = Service()
    before = s.settled()
    for data in (b"\0", b"\xff\xff", wire.run(1, "bash"), wire.stop(1),
                 wire.hello(version=1), wire.hello()[:-1],
                 wire.hello() + b"\0", wire.hello(any_policy=0)):
        c = s.client(greet=False)
        c.send(data)
        verb, _ = c.receive()
        check(verb in (None, wire.FAILED, wire.STALE), "%r: %r" %
              (data[:8], verb))
        c.close()
        s.alive()
    wait_for(lambda: s.descriptors() == before, "descriptors to be closed",
             30)


@case("descriptors that are no sealed memory files are refused")
def _():
    s = Service()
    before = s.settled()
    pipe = os.pipe()
    unsealed = os.memfd_create("open", os.MFD_ALLOW_SEALING)
    os.write(unsealed, b"echo ran")
    good = wire.sealed(b"echo ran")
    passwd = os.open("/etc/passwd", os.O_RDONLY)
    for fds in ((), (good,), (pipe[0], good), (unsealed, good),
                (good, unsealed), (passwd, good), (good, good, good),
                (good,) * 60):
        c = s.client()
        c.send(wire.run(1, "bash"), fds)
        verb, answer = c.receive()
        check(verb in (None, wire.FAILED) or not answer["allow"],
              "%r: %r" % (fds, verb))
        c.close()
    s.alive()
    wait_for(lambda: s.descriptors() == before, "descriptors to be closed",
             30)
    equal([r["type"] for r in s.place.records()
           if r["type"] == "outcome"], ["outcome"] * 2, "runs")


@case("random damage to messages never harms the service")
def _():
    s = Service()
    dice = random.Random(20260701)
    good = [wire.run(1, "bash", args=b"a\0b\0", limits=[("wall_ms", 1000)],
                     inputs=[("/etc/passwd", "x")], label="l"),
            wire.cancel(1), wire.list_(1, "r_" + "0" * 32),
            wire.open_(1, "r_" + "0" * 32, "stdout")]
    code = wire.sealed(b"true")
    c = None
    for number in range(600):
        if c is None:
            c = s.client()
        data = bytearray(dice.choice(good))
        for _ in range(dice.randrange(1, 4)):
            way = dice.randrange(3)
            at = dice.randrange(len(data))
            if way == 0:
                data[at] = dice.randrange(256)
            elif way == 1:
                del data[at:at + dice.randrange(1, 9)]
            else:
                data[at:at] = struct.pack("<I", dice.getrandbits(32))
            if not data:
                data = bytearray(b"x")
        try:
            c.send(bytes(data), (code, code) if dice.randrange(2) else ())
            c.socket.settimeout(0.02)
            while c.receive()[0] is not None:
                pass
            c.close()
            c = None
        except (TimeoutError, BlockingIOError):
            c.socket.settimeout(60)
        except (OSError, ValueError):
            c.close()
            c = None
    s.alive()


@case("a client that reads nothing delays nobody, and its run is recorded")
def _():
    s = Service()
    slow = s.client()
    fds = (wire.sealed(b"head -c 900000 /dev/zero; echo; exit 7"),
           wire.sealed(b""))
    slow.send(wire.run(1, "bash"), fds)
    wait_for(lambda: [r for r in s.place.records()
                      if r["type"] == "outcome"], "its outcome")
    s.alive()
    outcome = [r for r in s.place.records() if r["type"] == "outcome"][0]
    equal((outcome["exit"], outcome["stdout"]["total"]),
          ({"code": 7}, 900001), "outcome")
    # Everything of the head is still there for it.
    total, end = 0, None
    while end is None:
        verb, members = slow.receive()
        check(verb is not None, "closed before the end")
        total += len(members.get("data", b""))
        end = members if verb == wire.FINISHED else None
    equal(total, 900001, "bytes")


@case("one session may hold several runs, and cancel one of them")
def _():
    s = Service()
    c = s.client()
    for request, code in ((1, b"sleep 1000"), (2, b"sleep 1000"),
                          (3, b"echo three")):
        fds = (wire.sealed(code), wire.sealed(b""))
        c.send(wire.run(request, "bash"), fds)
        for fd in fds:
            os.close(fd)
    ends = {}
    while 3 not in ends:
        verb, members = c.receive()
        if verb == wire.FINISHED:
            ends[members["request"]] = members["status"]
    c.send(wire.cancel(2))
    c.send(wire.cancel(77))
    while 2 not in ends:
        verb, members = c.receive()
        if verb == wire.FINISHED:
            ends[members["request"]] = members["status"]
    equal(ends, {2: "cancelled", 3: "ok"}, "ends")
    c.close()
    wait_for(lambda: len([r for r in s.place.records()
                          if r["type"] == "outcome"]) == 3, "the third's end")
    s.alive()


@case("more runs than the policy allows wait, more than the queue are refused")
def _():
    s = Service(concurrency={"runs": 1, "queue": 2})
    clients = [s.client() for _ in range(6)]
    for c in clients:
        fds = (wire.sealed(b"sleep 1"), wire.sealed(b""))
        c.send(wire.run(1, "bash"), fds)
        for fd in fds:
            os.close(fd)
        time.sleep(0.05)
    ends = []
    for c in clients:
        while True:
            verb, members = c.receive()
            if verb == wire.DECIDED and not members["allow"]:
                ends.append(members["reasons"])
                break
            if verb == wire.FINISHED:
                ends.append(members["status"])
                break
    equal(sorted(ends, key=str), [["concurrency.busy"]] * 3 + ["ok"] * 3,
          "ends")


@case("three hundred idle clients do not keep others out for long")
def _():
    s = Service()
    idle = []
    for _ in range(300):
        try:
            c = s.client(greet=False, timeout=2)
            idle.append(c)
        except OSError:
            break
    for c in idle:
        c.close()
    wait_for(lambda: not_raises(s.alive), "service again", 60)


def not_raises(function):
    try:
        function()
        return True
    except (AssertionError, OSError):
        return False


class SystemSocket:
    """A process whose own /run/bailiff holds the system service's socket, so
    that no other command of this host ever sees it."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        self.channel = ours
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            try:
                self.inside(theirs)
            finally:
                os._exit(1)
        theirs.close()
        _, fds, _, _ = socket.recv_fds(ours, 10, 1)
        if not fds:
            raise Skip("no mount namespace to be had")
        self.listener = socket.socket(fileno=fds[0])

    def inside(self, channel):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x20000) != 0:  # CLONE_NEWNS
            os._exit(1)
        for words in (["--make-rprivate", "/"],
                      ["-t", "tmpfs", "-o", "mode=755", "bailiff-test",
                       "/run/bailiff"]):
            if subprocess.run(["mount"] + words, check=False).returncode:
                os._exit(1)
        listener = listen("/run/bailiff/bailiff.sock")
        socket.send_fds(channel, [b"x"], [listener.fileno()])
        listener.close()
        while True:
            request = channel.recv(65536)
            if not request:
                os._exit(0)
            uid, words = json.loads(request)
            done = subprocess.run(
                ["setpriv", "--reuid", str(uid), "--regid", str(uid),
                 "--clear-groups", "env", "HOME=/nonexistent", BAILIFF] +
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)
            channel.send(json.dumps([done.returncode, done.stdout.decode(),
                                     done.stderr.decode()]).encode())

    def call(self, uid, *words):
        self.channel.send(json.dumps([uid, words]).encode())
        return json.loads(self.channel.recv(1 << 20))

    def close(self):
        self.channel.close()
        os.waitpid(self.pid, 0)


@case("bailiff run uses the system socket for every account")
def _():
    system = SystemSocket()
    try:
        if system.call(ALICE, "--version")[0] != 0:
            raise Skip("the build tree cannot be reached by another uid")
        s = Service(listener=system.listener)
        for uid in (ALICE, BOB, 0):
            equal(system.call(uid, "run", "--lang", "bash", "-c", "echo hi"),
                  [0, "hi\n", ""], "run of %d" % uid)
        intents = [r["principal"]["uid"] for r in s.place.records()
                   if r["type"] == "intent"]
        equal(intents, [ALICE, BOB, 0], "principals")
        code, out, _ = system.call(ALICE, "run", "--json", "--lang", "bash",
                                   "-c", "echo mine")
        run_id = json.loads(out)["run_id"]
        equal(system.call(ALICE, "result", run_id, "stdout"),
              [0, "mine\n", ""], "own result")
        code, out, err = system.call(BOB, "result", run_id, "stdout")
        equal((code, out), (1, ""), "another's result")
        code, out, err = system.call(ALICE, "run", "--state",
                                     s.place.path("x"), "--lang", "bash",
                                     "-c", "echo ran")
        equal((code, out), (125, ""), "a state of one's own, without root")
        check(err.startswith("bailiff: ") and err.count("\n") == 1, err)
        s.process.kill()
        s.process.wait()
        for uid in (ALICE, 0):
            code, out, err = system.call(uid, "run", "--lang", "bash", "-c",
                                         "echo ran")
            equal((code, out), (125, ""), "a dead system service")
            check("system service does not answer" in err, err)
    finally:
        system.close()


@case("the supervisor keeps what it needs and no more")
def _():
    s = Service()
    s.alive()
    line = status(s.process.pid)
    for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"):
        value = int(line[name], 16)
        # CAP_KILL (5) and CAP_SYS_PTRACE (19) at most.
        check(value & ~(1 << 5 | 1 << 19) == 0 or name == "CapBnd",
              "%s %s" % (name, line[name]))
    check("0" not in line["Uid"].split(), "uid %s" % line["Uid"])
    equal(line["NoNewPrivs"], "1", "no_new_privs")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-opener")
    main()
