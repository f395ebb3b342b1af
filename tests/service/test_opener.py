"""bailiff-opener against real files: every answer it can give.

Run as: python3 test_opener.py BUILD_DIR SOURCE_DIR.  Needs root, since the
helper changes its file-system identity.
"""
import ctypes
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
DRIVER = BUILD + "/tests/opener_driver"
OPENER = BUILD + "/libexec/bailiff/bailiff-opener"
ALICE, BOB, TEAM = 1900064001, 1900064002, 1900064003
failures = 0


def ask(root, beneath, limit=1 << 20, uid=ALICE, gid=ALICE, groups=(), held=None):
    words = [DRIVER, OPENER, held or root, root, beneath, str(limit), str(uid), str(gid)]
    words += [str(g) for g in groups]
    done = subprocess.run([os.fsencode(w) for w in words], capture_output=True, timeout=120)
    return done.stdout.decode().strip() or done.stderr.decode().strip()


def check(name, got, wanted):
    global failures
    good = got.startswith(wanted)
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {name}" + ("" if good else f": got {got!r}, wanted {wanted!r}"))


def make(path, data=b"content", mode=0o644, uid=ALICE):
    with open(path, "wb") as f:
        f.write(data)
    os.chown(path, uid, uid)
    os.chmod(path, mode)


class Watched:
    """Was one of these files opened or read meanwhile?  inotify(7); O_PATH counts as neither."""

    def __init__(self, *paths):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in paths:
            assert libc.inotify_add_watch(self.fd, os.fsencode(path), 0x1 | 0x20) >= 0

    def quiet(self):
        try:
            return not os.read(self.fd, 4096)
        except BlockingIOError:
            return True
        finally:
            os.close(self.fd)


def build_tree(top):
    root = top + "/root"
    os.makedirs(root + "/sub/deep")
    os.makedirs(top + "/root2")
    for d in (top, root, root + "/sub", root + "/sub/deep", top + "/root2"):
        os.chmod(d, 0o755)
    make(root + "/plain.txt")
    make(root + "/sub/deep/file", b"deep")
    make(root + "/empty", b"")
    make(root + "/private", mode=0o600)
    make(root + "/foreign", mode=0o600, uid=BOB)
    make(root + "/team", mode=0o640, uid=BOB)
    os.chown(root + "/team", BOB, TEAM)
    make(root + "/setuid", mode=0o6755, uid=0)
    make(top + "/root2/plain.txt", b"other")
    make(top + "/secret", b"outside")
    os.symlink("/etc/passwd", root + "/link")
    os.symlink("plain.txt", root + "/near")
    os.symlink("../secret", root + "/up")
    os.symlink("sub", root + "/linked")
    os.symlink("nowhere", root + "/dangling")
    os.symlink("loop", root + "/loop")
    os.symlink("/proc/self/fd/0", root + "/magic")
    os.mkfifo(root + "/fifo", 0o666)
    os.chmod(root + "/fifo", 0o666)
    os.mknod(root + "/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.chmod(root + "/null", 0o666)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(root + "/socket")
    os.chmod(root + "/socket", 0o777)
    os.mkdir(root + "/closed", 0o700)
    make(root + "/closed/file")
    os.chown(root + "/closed", BOB, BOB)
    with open(root + "/sparse", "wb") as f:
        f.truncate(1 << 40)
    os.chmod(root + "/sparse", 0o644)
    return root


def opens(root):
    check("a file of the principal is opened", ask(root, "plain.txt"), "opened 7 sealed content")
    check("a file in a folder is opened", ask(root, "sub/deep/file"), "opened 4 sealed deep")
    check("an empty file is opened", ask(root, "empty"), "opened 0 sealed")
    check("a file of exactly the limit is opened", ask(root, "plain.txt", 7), "opened 7 sealed")
    check("a 0600 file of the principal is opened", ask(root, "private"), "opened 7")
    check("a file of the principal's group is opened", ask(root, "team", groups=[5, TEAM, 7]), "opened 7")
    check("a file by the principal's own gid is opened", ask(root, "team", gid=TEAM), "opened 7")
    check("a setuid file is only bytes", ask(root, "setuid"), "opened 7 sealed")
    check("256 groups are carried", ask(root, "team", groups=list(range(1000, 1255)) + [TEAM]), "opened 7")
    for name in (b"new\nline", b"\x1b[31mred", b"\xff\xfe", b"-rf", b"%2e%2e", b"..."):
        make(os.fsencode(root) + b"/" + name)
        check(f"the name {name!r} is only a name", ask(root, os.fsdecode(name)), "opened 7")


def links(root):
    for name in ("link", "near", "up", "dangling", "loop", "magic", "linked/deep/file", "near/x"):
        check(f"the link {name} is not followed", ask(root, name), "denied path.link")


def outside(root, top):
    watched = Watched(top + "/secret", top + "/root2/plain.txt")
    for name in ("../secret", "sub/../../secret", "/etc/passwd", "..", "sub/../../root2/plain.txt"):
        check(f"{name} stays outside", ask(root, name), "denied path.outside_root")
    check("no outside file was opened", str(watched.quiet()), "True")
    check("a mount crossing is refused", ask("/", "proc/self/status"), "denied path.outside_root")


def missing(root):
    check("a missing file is missing", ask(root, "absent"), "denied path.missing 2")
    check("a file is no folder", ask(root, "plain.txt/x"), "denied path.missing 20")
    check("a name of 300 bytes is missing", ask(root, "x" * 300), "denied path.missing")


def unreadable(root):
    watched = Watched(root + "/foreign", root + "/closed/file")
    check("a 0600 file of another is unreadable", ask(root, "foreign"), "denied path.unreadable 13")
    check("root has no capability here", ask(root, "foreign", uid=0, gid=0), "denied path.unreadable 13")
    check("a group file is unreadable to others", ask(root, "team", groups=[5]), "denied path.unreadable")
    check("a file in a closed folder is unreadable", ask(root, "closed/file"), "denied path.unreadable")
    check("nothing unreadable was opened", str(watched.quiet()), "True")
    watched = Watched(root + "/foreign")
    check("the same file by its owner is opened", ask(root, "foreign", uid=BOB, gid=BOB), "opened 7")
    check("and the watch sees that", str(watched.quiet()), "False")


def special(root):
    watched = Watched(root + "/fifo", root + "/null")
    for name in ("fifo", "null", "socket", "sub"):
        check(f"{name} is not regular", ask(root, name), "denied path.not_regular")
    check("no pipe or device was opened", str(watched.quiet()), "True")


def large(root):
    watched = Watched(root + "/plain.txt", root + "/sparse")
    check("one byte above the limit is too large", ask(root, "plain.txt", 6), "denied path.too_large")
    check("a limit of 0 allows only empty files", ask(root, "empty", 0), "opened 0")
    check("a sparse tebibyte is too large at once", ask(root, "sparse"), "denied path.too_large")
    check("what is too large is not opened", str(watched.quiet()), "True")


def roots(root, top):
    check("a root replaced by another is noticed",
          ask(root, "plain.txt", held=top + "/root2"), "denied path.root_changed")
    os.symlink("root", top + "/alias")
    check("a root that became a link is noticed",
          ask(top + "/alias", "plain.txt", held=root), "denied path.root_changed")
    check("a root that is gone is noticed",
          ask(top + "/gone", "plain.txt", held=root), "denied path.root_changed")
    check("a root that became a file is noticed",
          ask(root + "/plain.txt", "x", held=root), "denied path.root_changed")
    check("a relative root is refused", ask("root", "plain.txt", held=root), "denied path.failed")
    os.makedirs(top + "/shut/in")
    make(top + "/shut/in/file")
    os.chmod(top + "/shut", 0o700)
    check("a root the principal cannot reach is unreadable",
          ask(top + "/shut/in", "file"), "denied path.unreadable")


def changed():
    # Their size says 0 and their content does not.
    check("a file that is not as large as it says has changed",
          ask("/proc/sys/kernel", "ostype"), "denied path.changed")


def main():
    if os.geteuid() != 0:
        print("skipped: needs root to change the file-system identity")
        return 77
    top = tempfile.mkdtemp(prefix="bailiff-opener-")
    try:
        root = build_tree(top)
        opens(root)
        links(root)
        outside(root, top)
        missing(root)
        unreadable(root)
        special(root)
        large(root)
        roots(root, top)
        changed()
    finally:
        shutil.rmtree(top)
    print(f"{failures} failures")
    return 1 if failures else 0


sys.exit(main())
