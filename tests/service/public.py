"""A service on a socket that any account may reach, and clients of others."""
import os
import socket
import subprocess
import time
import traceback

import wire
from lib import LIBEXEC, Place, check, equal


def listen(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen(64)
    return listener


class Service:
    """A supervisor on a socket of ours, under a directory all may pass."""

    def __init__(self, listener=None, **policy):
        self.place = p = Place(**policy)
        self.path = p.path("public.sock")
        listener = listener or listen(self.path)
        ready, write = os.pipe()

        def arrange():
            os.setsid()
            high = os.dup2(listener.fileno(), 200)
            os.dup2(write, 3)
            os.dup2(high, 4)
            os.closerange(5, 300)

        self.process = subprocess.Popen(
            [os.path.join(LIBEXEC, "bailiff-supervisor"), "--policy",
             p.policy, "--state", p.state, "--listen-fd", "4"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=arrange, close_fds=False,
            env={})
        os.close(write)
        listener.close()
        with os.fdopen(ready) as f:
            line = f.readline()
        equal(line, "ready\n", "first line")

    def client(self, **more):
        return wire.Client(self.path, **more)

    def alive(self):
        check(self.process.poll() is None, "the supervisor died")
        c = self.client()
        first, out, end = c.run("bash", b"echo alive")
        c.close()
        check(end and (end["status"], out) == ("ok", b"alive\n"),
              "not served: %r" % (first,))

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def settled(self):
        """The number of descriptors once a first run is over."""
        self.alive()
        count = same = 0
        while same < 20:
            now = self.descriptors()
            same = same + 1 if now == count else 0
            count = now
            time.sleep(0.02)
        return count


def as_user(uid, function, groups=()):
    """Run a function in a child with another account's ids."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups(list(groups))
            os.setgid(uid)
            os.setuid(uid)
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, end = os.waitpid(pid, 0)
    equal(os.waitstatus_to_exitcode(end), 0, "child as uid %d" % uid)
