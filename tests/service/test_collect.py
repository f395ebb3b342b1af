"""bailiff-collect against hostile trees: what it takes, refuses and survives.

Run as: python3 test_collect.py BUILD_DIR SOURCE_DIR.  Needs root, since the
helper runs under a uid of its own with one capability.
"""
import ctypes
import hashlib
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from urllib.parse import unquote_to_bytes

BUILD = sys.argv[1]
DRIVER = BUILD + "/tests/collect_driver"
COLLECT = BUILD + "/libexec/bailiff/bailiff-collect"
PROGRAM, INIT = 1900064005, 1900064004
LINK, SPECIAL, FOREIGN, LIMIT, NAME, READ, WRITE, BYTES, DEPTH = range(1, 10)
failures = 0


def check(name, good, seen=""):
    global failures
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {name}" + ("" if good else f": {str(seen)[:400]}"))


class Tree:
    """A scratch with a sandbox/ in it, and what came out of it."""

    def __enter__(self):
        self.top = tempfile.mkdtemp(prefix="bailiff-collect-")
        self.scratch = self.top + "/scratch"
        self.box = os.fsencode(self.scratch + "/sandbox")
        os.makedirs(self.box)
        os.mkdir(self.top + "/out")
        os.chown(self.box, INIT, INIT)
        return self

    def __exit__(self, *_):
        # Deeper than a recursive removal in Python likes.
        subprocess.run(["rm", "-rf", self.top], check=True)

    def file(self, name, data=b"data", uid=PROGRAM, mode=0o600):
        path = self.box + b"/" + (name if isinstance(name, bytes) else name.encode())
        with open(path, "wb") as f:
            f.write(data)
        os.chown(path, uid, uid)
        os.chmod(path, mode)
        return path

    def collect(self, files=64, size=1 << 26, depth=8, extra=()):
        words = [DRIVER, COLLECT, self.scratch, PROGRAM, files, size, depth, self.top + "/out", *extra]
        done = subprocess.run([str(w) for w in words], capture_output=True, timeout=300)
        self.copied, self.skipped, self.refused, self.end = {}, {}, [], ["none", done.stderr]
        for line in done.stdout.decode().splitlines():
            word, *rest = line.split(" ")
            if word == "copied":
                self.copied[unquote_to_bytes(rest[1])] = (rest[0], int(rest[2]), rest[3])
            elif word == "skipped":
                self.skipped[unquote_to_bytes(rest[1])] = int(rest[0])
            elif word == "refused":
                self.refused.append(unquote_to_bytes(rest[0]))
            else:
                self.end = [word, *map(int, rest)]
        return self


def takes_what_counts():
    with Tree() as t:
        os.makedirs(t.box + b"/d/e")
        big = os.urandom(300000)
        t.file("a", b"")
        t.file("big", big)
        t.file("d/e/f", b"x", mode=0)
        t.file("main.py", b"code", uid=INIT, mode=0o444)
        os.chown(t.box + b"/d", PROGRAM, PROGRAM)
        os.chmod(t.box + b"/d", 0)
        t.collect()
        check("regular files of the program are taken", set(t.copied) == {b"a", b"big", b"d/e/f"}, t.copied)
        check("code and inputs are foreign", t.skipped == {b"main.py": FOREIGN}, t.skipped)
        check("the count is right", t.end == ["done", 3, 300001, 1, 0], t.end)
        number, size, digest = t.copied.get(b"big", ("0", 0, ""))
        path = f"{t.top}/out/{number}"
        kept = open(path, "rb").read() if os.path.exists(path) else b""
        check("content arrives whole", kept == big and size == len(big))
        check("its digest is that of the content", digest == hashlib.sha256(big).hexdigest())


def takes_nothing_else():
    with Tree() as t:
        os.symlink("/etc/shadow", t.box + b"/link")
        os.symlink("/etc", t.box + b"/folder")
        one = t.file("one")
        os.link(one, t.box + b"/two")
        os.mkfifo(t.box + b"/fifo")
        os.mknod(t.box + b"/dev", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(t.box + b"/disk", stat.S_IFBLK | 0o666, os.makedev(7, 0))
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(t.box + b"/socket")
        for name in (b"fifo", b"dev", b"disk", b"socket", b"link"):
            os.chown(t.box + b"/" + name, PROGRAM, PROGRAM, follow_symlinks=False)
        t.collect()
        wanted = {b"link": LINK, b"folder": LINK, b"one": LINK, b"two": LINK, b"fifo": SPECIAL,
                  b"dev": SPECIAL, b"disk": SPECIAL, b"socket": SPECIAL}
        check("links, devices, pipes and sockets are skipped by name", t.skipped == wanted, t.skipped)
        check("nothing of them is taken", t.copied == {} and t.end == ["done", 0, 0, 8, 0], t.end)


def keeps_names_as_bytes():
    with Tree() as t:
        names = [b"new\nline", b"\x1b]0;title\x07", b"\xff\xfe\x80", b"-rf", b" ", b"a" * 255, b"...", b"%41",
                 "\u202egpj.exe".encode()]
        for name in names:
            t.file(name, name)
        t.collect()
        check("any name is kept byte for byte", set(t.copied) == set(names), set(names) ^ set(t.copied))


def drops_modes():
    with Tree() as t:
        t.file("setuid", b"x", mode=0o6755)
        os.setxattr(t.box + b"/setuid", "security.capability",
                    bytes.fromhex("0100000200200000000000000000000000000000"))
        t.collect()
        mode = os.stat(t.top + "/out/1").st_mode & 0o7777 if b"setuid" in t.copied else None
        check("only content is copied: no setuid bit, no capability",
              mode == 0o600 and os.listxattr(t.top + "/out/1") == [], mode)


def bounds_count_and_bytes():
    with Tree() as t:
        for i in range(5):
            t.file(f"f{i}", b"12345")
        t.collect(files=3)
        check("at most max_files are taken, in order of name",
              set(t.copied) == {b"f0", b"f1", b"f2"} and t.skipped == {b"f3": LIMIT, b"f4": LIMIT}, t.skipped)
    with Tree() as t:
        t.file("a", b"12345")
        t.file("b", b"123456")
        t.file("c", b"12345")
        t.collect(size=10)
        check("at most max_bytes are taken", set(t.copied) == {b"a", b"c"} and t.skipped == {b"b": BYTES}, t.end)
    with Tree() as t:
        t.file("a", b"")
        t.file("b", b"1")
        t.collect(size=0)
        check("0 bytes mean empty files only", set(t.copied) == {b"a"}, t.copied)
        t.collect(files=0)
        check("0 files mean none", t.copied == {} and t.end[3] == 2, t.end)
        t.collect(depth=0)
        check("depth 0 means none", t.copied == {} and t.skipped == {b"": DEPTH}, t.skipped)
    with Tree() as t:
        with open(t.file("sparse"), "wb") as f:
            f.truncate(1 << 40)
        t.collect()
        check("a sparse tebibyte is skipped at once", t.skipped == {b"sparse": BYTES}, t.end)


def bounds_depth():
    with Tree() as t:
        os.makedirs(t.box + b"/1/2/3")
        t.file("1/2/file")
        t.file("1/2/3/file")
        t.collect(depth=3)
        check("a folder below max_depth is not entered",
              set(t.copied) == {b"1/2/file"} and t.skipped == {b"1/2/3": DEPTH}, t.skipped)
        t.collect(depth=4, extra=["REFUSE"])
        check("one level more enters it", b"1/2/3/file" in t.refused, t.refused)
    with Tree() as t:
        fd = os.open(t.box, os.O_DIRECTORY)
        for _ in range(10000):
            os.mkdir("d", dir_fd=fd)
            deeper = os.open("d", os.O_DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = deeper
        os.close(fd)
        t.collect(depth=1 << 40)
        check("a tree 10,000 deep ends at 64", t.end == ["done", 0, 0, 1, 0] and
              t.skipped == {b"/".join([b"d"] * 64): DEPTH}, t.end)
    with Tree() as t:
        fd = os.open(t.box, os.O_DIRECTORY)
        for _ in range(20):
            os.mkdir(b"n" * 255, dir_fd=fd)
            deeper = os.open(b"n" * 255, os.O_DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = deeper
        os.close(fd)
        t.collect(depth=64)
        check("a path of more than 4,096 bytes is skipped by its name",
              list(t.skipped.values()) == [NAME] and len(list(t.skipped)[0]) == 4096, t.end)


def bounds_entries():
    with Tree() as t:
        for i in range(20000):
            os.close(os.open(t.box + b"/%05d" % i, os.O_CREAT | os.O_WRONLY, 0o600))
        t.collect()
        check("20,000 entries of others: 1,000 are named, all are counted",
              len(t.skipped) == 1000 and t.end == ["done", 0, 0, 20000, 0], t.end)
    with Tree() as t:
        for i in range(20000):
            path = t.box + b"/%05d" % i
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            os.chown(path, PROGRAM, PROGRAM)
        t.collect(files=50)
        check("20,000 files end by limit", len(t.copied) == 50 and t.end == ["done", 50, 0, 19950, 0], t.end)


def reads_a_detached_mount():
    """The launcher hands out the scratch as a mount that hangs nowhere: fsopen(2), open_tree(2)."""
    libc = ctypes.CDLL(None, use_errno=True)
    context = libc.syscall(430, b"tmpfs", 0)
    if context < 0 or libc.syscall(431, context, 6, None, None, 0) < 0:
        print("skipped: no mount of a tmpfs here")
        return
    mount = libc.syscall(432, context, 0, 0)
    copy = -1
    with Tree() as t:
        os.mkdir("sandbox", dir_fd=mount)
        fd = os.open("sandbox/file", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=mount)
        os.write(fd, b"detached")
        os.fchown(fd, PROGRAM, PROGRAM)
        os.close(fd)
        copy = libc.syscall(428, mount, b"", 1 | 0x1000)
        t.scratch = f"/proc/{os.getpid()}/fd/{copy}"
        t.collect()
        check("a scratch that is mounted nowhere is read", set(t.copied) == {b"file"}, t.end)
    for fd in (context, mount, copy):
        os.close(fd)


def obeys_the_supervisor():
    with Tree() as t:
        t.file("a")
        t.file("b")
        t.collect(extra=["REFUSE"])
        check("what the supervisor refuses is counted, not copied",
              t.refused == [b"a", b"b"] and t.end == ["done", 0, 0, 2, 0], t.end)
        t.collect(extra=["FULL"])
        check("a full disk is said, and not taken", t.copied == {} and t.skipped == {b"a": WRITE, b"b": WRITE}, t.end)
    with Tree() as t:
        os.rmdir(t.box)
        t.collect()
        check("a scratch without /sandbox ends without DONE", t.end[0] == "ended" and t.end[1] != 0, t.end)
        os.symlink("/etc", t.box)
        t.collect()
        check("a /sandbox that is a link ends without DONE", t.end[0] == "ended", t.end)


def main():
    if os.geteuid() != 0:
        print("skipped: needs root to start the helper under its own uid")
        return 77
    for case in (takes_what_counts, takes_nothing_else, keeps_names_as_bytes, drops_modes, bounds_count_and_bytes,
                 bounds_depth, bounds_entries, reads_a_detached_mount, obeys_the_supervisor):
        case()
    print(f"{failures} failures")
    return 1 if failures else 0


sys.exit(main())
