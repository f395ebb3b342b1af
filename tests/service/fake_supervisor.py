#!/usr/bin/python3
"""A service that misbehaves on demand, for test_front.py.

It stands as libexec/bailiff/bailiff-supervisor in a tree of the test's own,
beside 'script.json': {"first": line for the ready pipe or null, "sessions":
[[reply, ...], ...]}, one list of hex replies a session; "EOF" ends a session,
"READ" waits for one message, "SLEEP" stays.  Each start appends what it
inherited to 'starts'.
"""
import fcntl
import hashlib
import json
import os
import signal
import socket
import sys
import time

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))


def inherited():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    fds = {}
    for fd in os.listdir("/proc/self/fd"):
        try:
            fds[fd] = os.readlink("/proc/self/fd/" + fd)
        except OSError:
            pass
    umask = os.umask(0o77)
    with open("/proc/self/environ", "rb") as f:
        environment = f.read().decode()
    return {"args": sys.argv[1:], "env": environment, "cwd": os.getcwd(),
            "fds": fds, "umask": umask, "sid": os.getsid(0),
            "pid": os.getpid(), "ppid": os.getppid(), "pgid": os.getpgid(0),
            "blocked": status["SigBlk"].strip(),
            "ignored": status["SigIgn"].strip()}


def listener():
    policy, state = sys.argv[2], sys.argv[4]
    digest = hashlib.sha256(open(policy, "rb").read()).hexdigest()[:16]
    if os.geteuid() == 0:
        st = os.stat(state)
        key = "%d:%d" % (st.st_dev, st.st_ino)
        run = "/run/bailiff/" + hashlib.sha256(key.encode()).hexdigest()[:16]
    else:
        run = state + "/run"
    path = "%s/%s.sock" % (run, digest)
    if os.path.exists(path):
        os.unlink(path)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fd = os.open(run, os.O_PATH)
    s.bind("/proc/self/fd/%d/%s.sock" % (fd, digest))
    s.listen(16)
    return s, path


def play(session, replies):
    for reply in replies:
        if reply == "EOF":
            break
        if reply == "READ":
            if not session.recv(1 << 20):
                break
            continue
        if reply == "SLEEP":
            time.sleep(600)
        session.send(bytes.fromhex(reply))
    session.close()


def main():
    note = inherited()
    with open(HERE + "/starts", "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(json.dumps(note) + "\n")
    with open(HERE + "/script.json") as f:
        script = json.load(f)
    if script["first"] != "ready\n":
        if script["first"] is not None:
            os.write(3, script["first"].encode())
        os._exit(0)
    s, path = listener()
    os.write(3, b"ready\n")
    os.close(3)
    signal.alarm(300)
    # Each start takes the next sessions; what was played is gone.
    while script["sessions"]:
        session, _ = s.accept()
        replies = script["sessions"].pop(0)
        with open(HERE + "/script.json", "w") as f:
            json.dump(script, f)
        last = replies[-1:] == ["RESTART"]
        if last:
            os.unlink(path)
            s.close()
        play(session, replies[:-1] if last else replies)
        if last:
            return
    os.unlink(path)


main()
