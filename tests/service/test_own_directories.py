"""--dir without root: the account's own directory, read-only and no way back.

Run as: python3 test_own_directories.py BUILD_DIR SOURCE_DIR [part of a name].

As whom is in account.py; test_directories.py is the same with root's service.
"""
import json
import os
import socket
import subprocess
import sys

from account import GID, UID, Home, begin
from lib import case, check, equal, main, marked_mounts, one_line

SWAPPER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "swapper.py")


class Own(Home):
    """A home with a read root in it."""

    def __init__(self):
        super().__init__()
        self.root = os.path.join(self.dir, "data")
        self.write("a/file", "content\n")
        self.write("a/deep/er", "deeper\n")
        self.write("a/mine", "mine\n", 0o600)
        self.write("a/closed", "secret\n", 0o600, owner=0)
        self.path = self.policy(paths={"read": [self.root], "export": []})

    def write(self, name, text, mode=0o644, owner=UID):
        path = os.path.join(self.root, name)
        made = os.path.dirname(path)
        if not os.path.isdir(made):
            os.makedirs(made)
        for folder in (self.root, made):
            os.chown(folder, UID, GID)
        with open(path, "w") as f:
            f.write(text)
        os.chown(path, owner, GID if owner else 0)
        os.chmod(path, mode)

    def ask(self, code, host="/a", language="bash"):
        return self.run("--policy", self.path, "--lang", language, "--dir",
                        self.root + host, "-c", code)


@case("it is there, whole, live and read-only, as far as the account may read")
def _():
    h = Own()
    got = h.ask("cat a/file a/deep/er a/mine; cd a; for f in file new "
                "deep/new; do echo x 2>/dev/null >$f && echo wrote $f; done; "
                "rm -f file; rmdir deep; mv deep d; chmod 777 file; "
                "ln file l; mkdir m; truncate -s 0 file; true")
    equal((got.code, got.out), (0, b"content\ndeeper\nmine\n"), repr(got))
    got = h.ask("cat a/closed; cat a/nothing; umount a; mount -o remount,rw a;"
                "grep ' /sandbox/a ' /proc/self/mountinfo")
    check(b"secret" not in got.out and got.err.count(b"denied") >= 1,
          repr(got))
    line = got.out.decode().split()
    equal(line[5], "ro,nosuid,nodev,noexec,relatime,nosymfollow", "options")
    equal(line[line.index("-") + 1], "overlay", "type")
    h.write("a/file", "changed\n")
    equal(h.ask("cat a/file", "/a/").out, b"changed\n", "new content")
    equal(h.ask("ls", ":all b\\c").out, b"all b\\c\nmain.sh\n", "the root")
    equal(marked_mounts(h.dir), [], "mounts of the host")
    h.stop()


@case("links in it lead nowhere, devices and programs of it do not work")
def _():
    h = Own()
    os.symlink("/etc/passwd", h.root + "/a/out")
    os.symlink("../../policy.json", h.root + "/a/up")
    os.symlink("file", h.root + "/a/in")
    h.write("a/tool", "#!/bin/sh\necho ran\n", 0o4755)
    os.mknod(h.root + "/a/null", 0o20666, os.makedev(1, 3))
    got = h.ask("cd a; cat out; cat up; cat in; readlink in; ./tool; cat null; true")
    equal(got.out, b"file\n", repr(got))
    # A link is ELOOP, or on Linux 6.1 EACCES.
    equal(got.err.count(b"Permission denied") +
          got.err.count(b"symbolic links"), 5, repr(got))
    h.stop()


@case("a live socket or FIFO of the host does not answer")
def _():
    h = Own()
    listeners = []
    for name, kind in (("stream", socket.SOCK_STREAM),
                       ("packet", socket.SOCK_SEQPACKET),
                       ("datagram", socket.SOCK_DGRAM)):
        s = socket.socket(socket.AF_UNIX, kind)
        s.bind(h.root + "/a/" + name)
        os.chmod(h.root + "/a/" + name, 0o777)
        os.chown(h.root + "/a/" + name, UID, GID)
        if kind != socket.SOCK_DGRAM:
            s.listen(5)
        own = socket.socket(socket.AF_UNIX, kind)
        own.connect(h.root + "/a/" + name)
        listeners += [s, own]
    os.mkfifo(h.root + "/a/fifo", 0o666)
    os.chown(h.root + "/a/fifo", UID, GID)
    fifo = os.open(h.root + "/a/fifo", os.O_RDWR | os.O_NONBLOCK)
    got = h.ask("""
import os, socket
for name in ("stream", "packet", "datagram"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        try:
            socket.socket(socket.AF_UNIX, kind).connect("/sandbox/a/" + name)
            print("connected", name)
        except OSError as e:
            print(type(e).__name__)
try:
    os.write(os.open("/sandbox/a/fifo", os.O_WRONLY | os.O_NONBLOCK), b"x")
    print("wrote")
except OSError as e:
    print(type(e).__name__)
""", language="python")
    lines = got.out.decode().split()
    equal(lines[:9], ["ConnectionRefusedError"] * 9, "sockets: %r" % got)
    equal(lines[9:], ["OSError"], "fifo")
    try:
        os.read(fifo, 1)
        raise AssertionError("the FIFO was written")
    except BlockingIOError:
        os.close(fifo)
    for s in listeners:
        s.close()
    h.stop()


@case("a directory with a mount beneath is refused, mounted before or after")
def _():
    h = Own()
    inner = h.root + "/a/deep/m m"
    h.write("a/deep/m m/hidden", "hidden\n")
    h.write("b/file", "b\n")
    for order in ("before the service", "after it"):
        h.stop()
        if order == "after it":
            equal(h.ask("cat b/file", "/b").out, b"b\n", "no mount yet")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k",
                               "bailiff-test", inner], check=False)
        if done.returncode != 0:
            print("     (mount is not possible here: not tried)")
            return
        try:
            for host in ("", "/a", "/a/deep"):
                got = h.ask("cat '/sandbox/x/m m/hidden'", host + ":x")
                equal((got.code, got.out), (125, b""), order + host)
                one_line(got, "directories", "mounted")
            got = h.ask("cat b/file", "/b")
            equal((got.code, got.out), (0, b"b\n"), "beside it")
        finally:
            subprocess.run(["umount", inner], check=True)
    h.stop()


@case("device and inode are recorded, nothing of it is kept, the log verifies")
def _():
    h = Own()
    st = os.stat(h.root + "/a")
    j = h.json("--policy", h.path, "--lang", "bash", "--dir",
               h.root + "/a:d e", "-c", "cp 'd e/file' out")
    with open(os.path.join(j["result_folder"], "result.json")) as f:
        (entry,) = json.load(f)["inputs"]
    equal((entry["kind"], entry["name"], entry["ino"]),
          ("directory", "d%20e", str(st.st_ino)), "inputs[]")
    equal(j["use"]["files"], 1, "files kept")
    h.stop()
    equal(h.call("audit", "verify").code, 0, "verify")


@case("a directory exchanged meanwhile is refused: what is there was recorded")
def _():
    h = Own()
    h.write("b/file", "other\n")
    inodes = {str(os.stat(h.root + "/" + n).st_ino): text for n, text in
              (("a", "content\n"), ("b", "other\n"))}
    swap = subprocess.Popen([sys.executable, "-B", SWAPPER, h.root + "/a",
                             h.root + "/b"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    try:
        equal(swap.stdout.readline(), b"ready\n", "swapper")
        for _ in range(16):
            r = h.run("--json", "--policy", h.path, "--lang", "bash", "--dir",
                      h.root + "/a:x", "-c", "cat x/file")
            j = json.loads(r.out)
            if j["status"] == "denied":  # seen by the opener already
                check(b"path.changed" in r.out, repr(r))
                continue
            if j["status"] != "ok":
                equal(j["failed"]["step"], "directories", repr(r))
                continue
            with open(os.path.join(j["result_folder"], "result.json")) as f:
                (entry,) = json.load(f)["inputs"]
            equal(j["stdout"], inodes[entry["ino"]], "what was seen")
    finally:
        swap.communicate(b"")
    h.stop()


begin()
main()
