"""--dir: a host directory in the sandbox, live, read-only and no way back.

Run as: python3 test_directories.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import os
import socket
import subprocess

import wire
from inputs import device, recorded
from lib import (Place, case, check, equal, main, marked_mounts, need_programs,
                 need_root, one_line)
from public import Service, as_user

ALICE, TEAM = 987011, 987012


class Root:
    """A read root with some of everything, and a policy that allows it."""

    def __init__(self, **over):
        self.place = p = Place(**over)
        self.root = p.path("data")
        p.write("data/a/file", "content\n")
        p.write("data/a/deep/er", "deeper\n")
        p.write("data/a/closed", "secret\n", mode=0o600)
        self.policy = p.write_policy("roots.json",
                                     paths={"read": [self.root]}, **over)

    def ask(self, code, host=None, **more):
        return self.place.bash(code, "--dir", host or self.root + "/a",
                               policy=self.policy, **more)

    def denied(self, host, reason):
        got = self.ask("echo ran", host)
        equal((got.code, got.out), (126, b""), "%r: %r" % (host, got.err))
        one_line(got, "denied: ", reason)
        equal(self.place.records()[-1]["type"], "denial", "record")


@case("a directory beneath a root is there, whole, live and read-only")
def _():
    r = Root()
    got = r.ask("cat a/file a/deep/er; cd a; for f in file new deep/new; do "
                "echo x 2>/dev/null >$f && echo wrote $f; done; "
                "rm -f file; rmdir deep; mv deep d; chmod 777 file; "
                "ln file l; mkdir m; truncate -s 0 file; true")
    equal((got.code, got.out), (0, b"content\ndeeper\n"), "%r" % got.err)
    r.place.write("data/a/file", "changed\n")
    equal(r.ask("cat a/file", r.root + "/a/").out, b"changed\n",
          "a slash at the end, and new content")
    equal(r.ask("ls", r.root + ":all b\\c").out, b"all b\\c\nmain.sh\n",
          "the root itself, under another name")
    equal(sorted(os.listdir(r.root + "/a")), ["closed", "deep", "file"],
          "the host's directory")
    equal(marked_mounts(r.place.dir), [], "mounts of the host")


@case("the mount is what the posture says: read-only, no device, no program")
def _():
    r = Root()
    os.mknod(r.root + "/a/null", 0o20666, os.makedev(1, 3))
    r.place.write("data/a/tool", "#!/bin/sh\necho ran\n", mode=0o4755)
    got = r.ask("grep ' /sandbox/a ' /proc/self/mountinfo; cat a/null; "
                "a/tool; /sandbox/a/tool; umount a; "
                "mount -o remount,rw a; true")
    line = got.out.decode().split()
    equal(line[5], "ro,nosuid,nodev,noexec,relatime,nosymfollow", "options")
    equal(line[line.index("-") + 1], "overlay", "type")
    check(b"ran" not in got.out, "%r" % got.out)
    check(got.err.count(b"Permission denied") >= 3, "%r" % got.err)


@case("what not everybody may read stays closed, even to its owner's run")
def _():
    r = Root()
    got = r.ask("cat a/closed; cat /sandbox/a/closed; head -c1 <a/closed")
    check(b"secret" not in got.out + got.err, "%r" % got)
    check(got.err.count(b"Permission denied") == 3, "%r" % got.err)


@case("links in it lead nowhere")
def _():
    r = Root()
    secret = r.place.write("secret", "secret\n")
    os.symlink(secret, r.root + "/a/out")
    os.symlink("file", r.root + "/a/in")
    os.symlink("../../secret", r.root + "/a/up")
    os.symlink("/etc/shadow", r.root + "/a/shadow")
    got = r.ask("cd a; cat out; cat in; cat up; cat shadow; readlink in")
    equal(got.out, b"file\n", "content")


@case("a live socket or FIFO of the host does not answer")
def _():
    r = Root()
    listeners = []
    for name, kind in (("stream", socket.SOCK_STREAM),
                       ("packet", socket.SOCK_SEQPACKET),
                       ("datagram", socket.SOCK_DGRAM)):
        s = socket.socket(socket.AF_UNIX, kind)
        s.bind(r.root + "/a/" + name)
        os.chmod(r.root + "/a/" + name, 0o777)
        if kind != socket.SOCK_DGRAM:
            s.listen(5)
        own = socket.socket(socket.AF_UNIX, kind)
        own.connect(r.root + "/a/" + name)
        listeners += [s, own]
    os.mkfifo(r.root + "/a/fifo", 0o666)
    os.chmod(r.root + "/a/fifo", 0o666)
    fifo = os.open(r.root + "/a/fifo", os.O_RDWR | os.O_NONBLOCK)
    got = r.place.python("""
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
""", "--dir", r.root + "/a", policy=r.policy)
    lines = got.out.decode().split()
    equal(lines[:9], ["ConnectionRefusedError"] * 9, "sockets")
    equal(lines[9:], ["OSError"], "fifo")
    try:
        os.read(fifo, 1)
        raise AssertionError("the FIFO was written")
    except BlockingIOError:
        os.close(fifo)
    for s in listeners:
        s.close()


@case("a directory with a mount beneath is refused, one without is not")
def _():
    r = Root()
    inner = r.root + "/a/deep/m m"
    os.mkdir(inner)
    r.place.write("data/a/deep/m m/hidden", "hidden\n")
    r.place.write("data/b/file", "b\n")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k",
                           "bailiff-test", inner], check=False)
    if done.returncode != 0:
        print("     (mount is not possible here: not tried)")
        return
    try:
        for host in (r.root, r.root + "/a", r.root + "/a/deep"):
            got = r.ask("cat '/sandbox/x/m m/hidden'", host + ":x")
            equal((got.code, got.out), (125, b""), host)
            one_line(got, "directories", "mounted")
        r.denied(inner + ":x", "path.outside_root")
        got = r.ask("cat b/file", r.root + "/b")
        equal((got.code, got.out), (0, b"b\n"), "beside it")
    finally:
        subprocess.run(["umount", inner], check=True)


@case("paths are judged like those of files")
def _():
    r = Root()
    os.mkdir(r.place.path("other"))
    os.symlink("a", r.root + "/link")
    for host, reason in ((r.root + "/../other", "path.traversal"),
                         (r.place.path("other"), "path.outside_root"),
                         (r.root + "base", "path.outside_root"),
                         (r.root + "/link", "path.link"),
                         (r.root + "/link/deep", "path.link"),
                         (r.root + "/none", "path.missing"),
                         (r.root + "/a/file", "path.not_directory"),
                         (r.root + "//a", "path.component"),
                         (r.root + "/a:" + "n" * 61, "path.name"),
                         (r.root + "/a:main.sh", "path.name"),
                         (r.root + "/a:x/y", "path.name")):
        r.denied(host, reason)
    got = r.place.bash("true", "--dir", r.root + "/a")
    equal(got.code, 126, "without roots")
    one_line(got, "path.not_allowed")
    got = r.ask("ls -d n*", r.root + "/a:" + "n" * 60)
    equal(got.out, b"n" * 60 + b"\n", "the longest name")


@case("directories count against the limit of inputs")
def _():
    r = Root(limits={"inputs": {"default": 1, "max": 1}})
    equal(r.ask("true").code, 0, "one")
    got = r.ask("true", r.root + "/a", env=None)
    equal(got.code, 0, "one again")
    got = r.place.bash("true", "--dir", r.root + "/a", "--dir",
                       r.root + "/a:b", policy=r.policy)
    equal(got.code, 126, "two")
    one_line(got, "inputs.too_many")


@case("its device and inode are recorded, and nothing of it is kept")
def _():
    r = Root()
    st = os.stat(r.root + "/a")
    got = r.place.json("--lang", "bash", "--dir", r.root + "/a:d e", "--file",
                       r.root + "/a/file", "-c", "cp 'd e/file' out",
                       policy=r.policy)
    inputs = recorded(r.place, got.json["run_id"])
    equal(inputs[0], {"kind": "directory", "name": "d%20e",
                      "dev": device(st), "ino": str(st.st_ino)}, "inputs[]")
    equal(inputs[1]["name"], "file", "the other")
    equal(got.json["use"]["files"], 1, "files kept")
    equal(r.place.verify().code, 0, "the log verifies")


@case("no principal gives a program more than itself can read")
def _():
    s = Service()
    p = s.place
    os.makedirs(p.path("data/own"))
    os.makedirs(p.path("data/shut"))
    p.write("data/own/all", "all\n")
    p.write("data/own/mine", "secret\n", mode=0o600)
    p.write("data/own/team", "secret\n", mode=0o640)
    p.write("data/own/not_team", "secret\n", mode=0o604)
    p.write("data/own/sub/all", "secret\n")
    os.chown(p.path("data/own"), ALICE, TEAM)
    os.chown(p.path("data/own/mine"), ALICE, TEAM)
    os.chown(p.path("data/own/team"), 0, TEAM)
    # Everybody may read it but those of the group, and so with the folder.
    os.chown(p.path("data/own/not_team"), 0, TEAM)
    os.chown(p.path("data/own/sub"), 0, TEAM)
    os.chmod(p.path("data/own/sub"), 0o705)
    os.chmod(p.path("data/own"), 0o700)
    os.chmod(p.path("data/shut"), 0o711)
    p.stop()
    s = Service(paths={"read": [p.path("data")]})

    def ask(name):
        c = s.client()
        got = c.run("bash", b"cd own; cat all mine team not_team sub/all",
                    inputs=[(p.path("data/" + name), "own", wire.DIRECTORY)])
        c.close()
        return got

    def alice():
        first, out, end = ask("own")
        check(first["allow"] == 1, "%r" % first)
        text = out.decode()
        check("all\n" in text and "secret" not in text, text)
        equal(text.count("Permission denied"), 4, "refusals: " + text)
        first, _, _ = ask("shut")
        equal(first["reasons"], ["path.unreadable"], "not to be listed")

    def bob():
        first, _, _ = ask("own")
        equal(first["reasons"], ["path.unreadable"], "another's")

    as_user(ALICE, alice, [TEAM])
    as_user(987013, bob)


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-opener")
    main()
