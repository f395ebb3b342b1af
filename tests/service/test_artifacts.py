"""What a run leaves behind, from the program to the host: only bytes of plain
files, only after the last process is dead, under names that hold no trick.

Run as: python3 test_artifacts.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import glob
import hashlib
import json
import os
import stat
import time
from urllib.parse import quote_from_bytes

from lib import (PATIENCE_S, Place, case, check, equal, kill, main,
                 need_programs, need_root, parent, processes, read, recorded,
                 run_processes, wait_for)

GIB = 1 << 30


def place(**limits):
    return Place(limits={k: v if isinstance(v, dict) else
                         {"default": v, "max": v} for k, v in limits.items()})


class Left:
    """A run, and what of it lies on the host."""

    def __init__(self, p, language, code, *args):
        self.place = p
        self.reply = p.json("--lang", language, "-c", code, *args)
        self.json = self.reply.json
        self.folder = self.json["result_folder"]
        check(self.folder, "no folder: %r" % self.json)
        self.record = recorded(p, self.json)
        text = json.loads(read(self.folder + "/result.json"))
        self.skipped = {s["name"]: s["why"]
                        for s in text["files"].get("skipped_names", [])}
        self.n_skipped = text["files"]["skipped"]
        equal(self.record["files"].get("skipped", 0), self.n_skipped,
              "skipped in the record")
        self.files = {}
        top = os.fsencode(self.folder + "/files")
        for where, folders, names in os.walk(top):
            for name in folders + names:
                self.judge(os.path.join(where, name))
            for name in names:
                path = os.path.join(where, name)
                self.files[os.path.relpath(path, top).decode()] = read(path)
        self.is_manifested()

    def judge(self, path):
        """Whatever it was inside: a plain file or folder of the service."""
        st = os.lstat(path)
        owner = os.stat(self.place.state + "/results").st_uid
        kind = stat.S_IFMT(st.st_mode)
        check(kind in (stat.S_IFREG, stat.S_IFDIR), "%r: %o" % (path, kind))
        equal((stat.S_IMODE(st.st_mode), st.st_uid),
              (0o600 if kind == stat.S_IFREG else 0o700, owner),
              "mode and owner of %r" % path)
        equal(os.listxattr(path), [], "attributes of %r" % path)
        if kind == stat.S_IFREG:
            equal(st.st_nlink, 1, "names of %r" % path)

    def is_manifested(self):
        lines = read(self.folder + "/MANIFEST").decode().splitlines()
        listed = dict(reversed(line.split("  ", 1)) for line in lines)
        for name, data in self.files.items():
            equal(listed.get("files/" + name),
                  hashlib.sha256(data).hexdigest(), "digest of " + name)
        equal(len([n for n in listed if n.startswith("files/")]),
              len(self.files), "files in MANIFEST")
        equal((self.record["files"]["count"], self.record["files"]["bytes"]),
              (len(self.files), sum(map(len, self.files.values()))),
              "files in the record")

    def shown(self):
        """Names by `bailiff result`, with their sizes."""
        r = self.place.result("--json", self.json["run_id"])
        return {f["name"][6:]: f["size"] for f in json.loads(r.out)["files"]
                if f["name"].startswith("files/")}


def encoded(name):
    return quote_from_bytes(name, safe="/-._~")


@case("a daemon that goes on writing is dead before the first byte is taken")
def _():
    p = place(wall_ms=60000)
    code = """
import os, time, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    n = 0
    log = os.open('log', os.O_CREAT | os.O_WRONLY)
    while True:
        n = (n + 1) % 256
        with open('part', 'wb') as f:
            f.write(bytes([n]) * 300000)
        os.rename('part', 'whole')
        os.pwrite(log, bytes([n]) * 4096, 0)
while not os.path.exists('whole'):
    time.sleep(0.01)
print('left')
"""
    for _ in range(5):
        e = Left(p, "python", code)
        equal((e.json["status"], e.json["stdout"]), ("ok", "left\n"), "end")
        check(set(e.files) <= {"whole", "part", "log"}, "%r" % set(e.files))
        whole = e.files["whole"]
        equal((len(whole), len(set(whole))), (300000, 1), "one write's bytes")
        check(len(set(e.files.get("part", b""))) <= 1, "part is torn")
        check(len(e.files.get("log", b"")) in (0, 4096), "log is torn")
        later = {n: read(e.folder + "/files/" + n) for n in e.files}
        equal(later, e.files, "a second look")


@case("links, pipes, sockets and devices stay inside, by name and reason")
def _():
    p = place(file_size=1 << 40)
    e = Left(p, "python", """
import os, socket, stat
os.symlink('/etc/shadow', 'link')
os.symlink('/etc', 'folder')
os.symlink('nowhere', 'dangling')
os.symlink('main.py', 'inside')
open('one', 'w').write('x')
os.link('one', 'two')
os.mkfifo('pipe')
s = socket.socket(socket.AF_UNIX)
try:
    s.bind('socket')
except OSError:
    os.mkfifo('socket')
for name, kind in (('char', stat.S_IFCHR), ('block', stat.S_IFBLK)):
    try:
        os.mknod(name, kind | 0o666, os.makedev(1, 3))
        print('made', name)
    except OSError:
        pass
f = os.open('giant', os.O_CREAT | os.O_WRONLY)
os.ftruncate(f, 1 << 40)
open('plain', 'w').write('kept')
""")
    equal((e.json["status"], e.json["stdout"]), ("ok", ""), "end")
    equal(e.files, {"plain": b"kept"}, "kept")
    equal(e.skipped, {"link": "link", "folder": "link", "dangling": "link",
                      "inside": "link", "one": "link", "two": "link",
                      "pipe": "special", "socket": "special",
                      "giant": "artifact_bytes"}, "skipped")
    equal(e.record["viol"], ["limit.artifact_bytes.reached"], "viol")


@case("modes, owners and attributes do not leave: setuid, sticky, mode 0")
def _():
    p = place()
    out = p.path("out")
    e = Left(p, "python", """
import os
for name, mode in (('setuid', 0o6755), ('sticky', 0o1777), ('none', 0),
                   ('write', 0o222), ('dir/deep', 0)):
    os.makedirs('dir', exist_ok=True)
    f = os.open(name, os.O_CREAT | os.O_WRONLY)
    os.write(f, name.encode())
    try:
        os.setxattr(f, 'user.note', b'x' * 100)
    except OSError:
        pass
    try:
        os.fchmod(f, mode)
    except OSError:
        os.fchmod(f, mode & 0o777)
try:
    os.chmod('dir', 0o3000)
except OSError:
    os.chmod('dir', 0)
""", "--out", out)
    names = ("setuid", "sticky", "none", "write", "dir/deep")
    equal(e.files, {n: n.encode() for n in names}, "kept")
    equal((e.n_skipped, e.reply.err), (0, b""), "nothing is missing")
    for name in names:
        st = os.lstat(os.path.join(out, name))
        equal((read(os.path.join(out, name)), st.st_uid, st.st_mode & 0o7111,
               os.listxattr(os.path.join(out, name))),
              (name.encode(), os.geteuid(), 0, []), "--out " + name)


NAMES = [b"new\nline", b"\x1b]0;title\x07", b"\xff\xfe\x80", b"-rf", b"--",
         b" ", b"a b", b"a" * 255, b"...", b"%41", b"A", b".hidden", b"tab\t",
         b"\\", b"quote\"'", b"MANIFEST", b"result.json", b"stdout",
         "\u202egpj.exe".encode(), "\u00e9".encode(), b"$(id)", b"*",
         b"r/\xff/\n/deep", b"..x", b"x..", b"~", b"con:nul"]


@case("names are bytes: encoded on the host, restored by --out and result")
def _():
    p = place()
    out = p.path("out")
    e = Left(p, "python", """
import os
for name in %r:
    if b'/' in name:
        os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, 'wb') as f:
        f.write(b'<' + name + b'>')
""" % NAMES, "--out", out)
    equal(e.reply.err, b"", "errors")
    equal(e.files, {encoded(n): b"<" + n + b">" for n in NAMES}, "kept")
    check(all(n.isascii() and n.isprintable() and " " not in n
              for n in e.files), "a name with a trick")
    found = {}
    for where, _, names in os.walk(os.fsencode(out)):
        for name in names:
            path = os.path.join(where, name)
            found[os.path.relpath(path, os.fsencode(out))] = read(path)
    equal(found, {n: b"<" + n + b">" for n in NAMES}, "--out")
    equal(e.shown(), {encoded(n): len(n) + 2 for n in NAMES}, "result RUN")
    for name in NAMES:
        r = p.result("--raw", e.json["run_id"], "files/" + encoded(name))
        equal((r.code, r.out), (0, b"<" + name + b">"), "result RUN NAME")
    # The same bytes by another spelling are no name.
    equal(p.result(e.json["run_id"], "files/%2Drf").code, 1, "%2D")
    p.stop()
    equal(p.verify().code, 0, "verify")


@case("a name that no file of the host can have is skipped and named")
def _():
    p = place()
    e = Left(p, "python", """
import os
open(b'\\xff' * 255, 'w').write('x')
open(b'\\xff' * 85, 'w').write('y')
d = b'd' * 200
for i in range(3):
    os.mkdir(d)
    os.chdir(d)
    open('f', 'w').write('z')
""", "--out", p.path("out"))
    d = "d" * 200
    equal(e.files, {"%FF" * 85: b"y", d + "/f": b"z", d + "/" + d + "/f":
                    b"z"}, "kept")
    equal(e.n_skipped, 2, "skipped")
    equal(sorted(e.skipped.values()), ["name", "name"], "reasons")
    check("%FF" * 170 in e.skipped, "cut at a whole byte: %r" % e.skipped)
    check(b"2 files of the run were not kept" in e.reply.err,
          "said: %r" % e.reply.err)
    check(os.path.exists(p.path("out", d, d, "f")), "the others came")


@case("ten thousand files: the limit is kept, the rest is counted")
def _():
    p = place(scratch_inodes=20000, artifacts=64)
    e = Left(p, "python", "for i in range(10000):\n"
             " open('f%05d'%i,'w').close()")
    equal((len(e.files), e.n_skipped), (64, 10000 - 64), "kept and skipped")
    equal((len(e.skipped), set(e.skipped.values())), (64, {"artifacts"}),
          "the first of them by name")
    equal(e.record["viol"], ["limit.artifacts.reached"], "viol")


@case("as many files as a policy can allow come out, every one of them")
def _():
    p = place(artifacts=4096, wall_ms=300000, cpu_ms=300000)
    out = p.path("out")
    e = Left(p, "python", "import os\nfor i in range(4096):\n"
             " os.makedirs('d%d'%(i%16),exist_ok=True)\n"
             " open('d%d/f%d'%(i%16,i),'w').write(str(i))", "--out", out)
    want = {"d%d/f%d" % (i % 16, i): str(i).encode() for i in range(4096)}
    equal(e.files, want, "kept")
    equal((e.n_skipped, e.record["viol"]), (0, []), "nothing missing")
    equal(e.shown(), {n: len(d) for n, d in want.items()}, "result RUN")
    equal({n: read(os.path.join(out, n)) for n in want}, want, "--out")


@case("a tree ten thousand deep and one of long paths end at the limit")
def _():
    p = place(scratch_inodes=20000, artifact_depth=64, wall_ms=300000,
              cpu_ms=300000)
    e = Left(p, "python", """
import os
top = os.open('.', os.O_DIRECTORY)
for name, n in (('d', 10000), ('n' * 255, 30)):
    os.fchdir(top)
    for i in range(n):
        os.mkdir(name)
        os.chdir(name)
        if i == 1:
            open('f', 'w').write('x')
""")
    equal(e.json["status"], "ok", "end (%r)" % e.json["stderr"])
    equal(e.files, {"d/d/f": b"x"}, "kept")
    equal(e.skipped["/".join("d" * 64)], "artifact_depth", "deep")
    # Two names too long to keep, which look alike where they were cut.
    equal((e.n_skipped, sorted(e.skipped.values())),
          (3, ["artifact_depth", "name"]), "reasons")


@case("a sparse file within the bounds comes out as its zeros")
def _():
    p = place(artifact_bytes=64 << 20)
    e = Left(p, "bash", "truncate -s 20M hole; printf x >> hole")
    equal(e.files, {"hole": bytes(20 << 20) + b"x"}, "kept")


@case("a collector that is killed leaves no torn file, and the record says so")
def _():
    p = place(file_size=GIB, artifact_bytes=GIB)
    p.bash("true")
    launcher = p.launchers()[0]
    front = p.start("--lang", "bash", "-c",
                    "echo kept > a; truncate -s 900M giant")
    pid = wait_for(lambda: processes("bailiff-collect",
                                     lambda x: parent(x) == launcher),
                   "the collector")[0]
    wait_for(lambda: glob.glob(p.state + "/results/.staging/*/*/files/giant"),
             "a file that is copied")
    kill(pid)
    out, err = front.communicate(timeout=PATIENCE_S)
    equal(front.returncode, 125, "exit (%r)" % err)
    last = [r for r in p.records() if r["type"] == "outcome"][-1]
    equal((last["status"], last["phase"], last["failed"]["step"]),
          ("error", "collect", "collect"), "record")
    for place_of in ("results", "results/.quarantine"):
        folder = os.path.join(p.state, place_of, last["req"])
        for name in os.listdir(folder + "/files") if \
                os.path.isdir(folder + "/files") else ():
            check(name == "a", "torn: %s in %s" % (name, place_of))
    equal(p.bash("echo fine").out, b"fine\n", "the next run")
    p.stop()
    r = p.verify()
    equal(r.code, 0, "verify: %r" % r)


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-collect")
    main()
