"""A service on a socket that somebody else made: socket activation.

What accounts may do on such a socket is test_clients.py; this is the socket
itself, and what root has that others must not see.

Run as: python3 test_listen.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import os
import signal
import socket
import subprocess

import wire
from lib import (LIBEXEC, PATIENCE_S, Place, case, check, equal, main,
                 need_programs, need_root, read, wait_for)
from public import Service, as_user, listen

ALICE, BOB = 987001, 987002


def start(place, fds, number):
    """The supervisor with these descriptors and --listen-fd 'number'; a key
    of 'fds' is a number in it.  Its "ready" line comes back, or ""."""
    ready, write = os.pipe()
    if number != 3:
        fds = {3: write, **fds}

    def arrange():
        os.setsid()
        high = {n: os.dup2(fd, 200 + n) for n, fd in fds.items()}
        os.closerange(3, 200)
        for n, fd in high.items():
            os.dup2(fd, n)
        os.closerange(200, 300)

    process = subprocess.Popen(
        [os.path.join(LIBEXEC, "bailiff-supervisor"), "--policy",
         place.policy, "--state", place.state, "--listen-fd", str(number)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, preexec_fn=arrange, close_fds=False,
        env={})
    os.close(write)
    with os.fdopen(ready) as f:
        return process, f.readline()


def held(pid):
    """What a process holds that goes on working: some is closed meanwhile."""
    links = []
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            links.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
        except FileNotFoundError:
            pass
    return links


@case("any descriptor may be the socket, 3 of a service manager too")
def _():
    for number in (3, 4, 5, 77):
        p = Place()
        listener = listen(p.path("s"))
        process, line = start(p, {number: listener.fileno(),
                                  90: os.open("/etc/passwd", os.O_RDONLY)},
                              number)
        equal(line, "" if number == 3 else "ready\n", "first line")
        listener.close()
        c = wire.Client(p.path("s"))
        first, out, end = c.run("bash", b"echo hi; ls /proc/self/fd | wc -l")
        equal((end["status"], out.split()[0]), ("ok", b"hi"), "run")
        links = held(process.pid)
        check("/etc/passwd" not in links, "inherited: %r" % links)
        c.send(wire.stop(1))
        equal(process.wait(PATIENCE_S), 0, "exit")


@case("what is no listening socket is refused in a line")
def _():
    p = Place()
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.bind(p.path("stream"))
    stream.listen()
    deaf = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    deaf.bind(p.path("deaf"))
    for fd in (stream.fileno(), deaf.fileno(),
               os.open("/dev/null", os.O_RDWR), None):
        process, line = start(p, {} if fd is None else {7: fd}, 7)
        check(line.startswith("error: ") and ("--listen-fd" in line or
              "socket 7" in line), "first line %r" % line)
        check(process.wait(PATIENCE_S) != 0, "exit")


@case("a service that lingered out comes back with the next client")
def _():
    p = Place(service={"linger_s": 0})
    listener = listen(p.path("s"))
    for _ in range(2):
        # Who connects while nobody serves waits for the next service.
        c = wire.Client(p.path("s"), greet=False)
        c.send(wire.hello())
        process, line = start(p, {4: listener.fileno()}, 4)
        equal((line, c.receive()[0]), ("ready\n", wire.WELCOME), "greeting")
        equal(c.run("bash", b"echo hi")[1], b"hi\n", "run")
        c.close()
        equal(process.wait(PATIENCE_S), 0, "exit")


@case("each account reads its own results, and root's are root's alone")
def _():
    s = Service()
    r, w = os.pipe()

    def run():
        c = s.client()
        first, out, end = c.run("bash", b"echo mine; echo kept > file")
        equal((end["status"], out), ("ok", b"mine\n"), "run")
        os.write(w, first["run_id"].encode())

    run()
    root_run = os.read(r, 100).decode()
    as_user(ALICE, run)
    alice_run = os.read(r, 100).decode()

    def look(run_id, wanted):
        def inner():
            c = s.client()
            names = []
            c.send(wire.list_(5, run_id))
            verb, answer = c.receive()
            while verb == wire.ENTRY:
                names.append(answer["name"])
                verb, answer = c.receive()
            equal(verb, wire.LISTED if wanted else wire.FAILED, "list")
            equal("files/file" in names, wanted, "names")
            c.send(wire.open_(6, run_id, "files/file"))
            verb, answer = c.receive()
            equal(verb, wire.OPENED if wanted else wire.FAILED, "open")
            if wanted:
                equal(os.read(answer["fd"], 100), b"kept\n", "content")

        return inner

    as_user(ALICE, look(alice_run, True))
    as_user(ALICE, look(root_run, False))
    as_user(BOB, look(alice_run, False))
    as_user(BOB, look(root_run, False))
    look(root_run, True)()
    look(alice_run, True)()
    uids = {x["req"]: x["principal"]["uid"] for x in s.place.records()
            if x["type"] == "intent"}
    equal(uids, {root_run: 0, alice_run: ALICE}, "principals")


@case("a file is opened as its principal: root's and another's are not there")
def _():
    p = Place()
    for name, uid in (("root", 0), ("alice", ALICE), ("bob", BOB)):
        path = p.write("data/" + name, name, 0o600)
        os.chown(path, uid, uid)
    s = Service(paths={"read": [p.path("data")]})

    def ask(name):
        return s.client().run("bash", b"cat in",
                              inputs=[(p.path("data/" + name), "in")])

    def alice():
        equal(ask("alice")[1], b"alice", "her own")
        for name in ("root", "bob"):
            first, out, _ = ask(name)
            equal((first["allow"], first["reasons"], out),
                  (0, ["path.unreadable"], b""), name)

    as_user(ALICE, alice)
    equal(ask("root")[1], b"root", "root's own")
    denials = [x for x in s.place.records() if x["type"] == "denial"]
    equal([(x["principal"]["uid"], x["reasons"]) for x in denials],
          [(ALICE, ["path.unreadable"])] * 2, "records")


@case("a socket that nobody may connect to stays so")
def _():
    p = Place()
    listener = listen(p.path("s"))
    os.chmod(p.path("s"), 0o600)
    process, line = start(p, {4: listener.fileno()}, 4)
    equal(line, "ready\n", "first line")
    equal(os.stat(p.path("s")).st_mode & 0o777, 0o600, "mode")

    def ask():
        try:
            wire.Client(p.path("s"))
        except PermissionError:
            return
        raise AssertionError("connected")

    as_user(ALICE, ask)
    wire.Client(p.path("s")).close()
    process.send_signal(signal.SIGTERM)
    equal(process.wait(PATIENCE_S), 0, "exit")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-opener")
    main()
