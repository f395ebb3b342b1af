"""Every bad input: one clear line, the right exit code, nothing half-made.

Run as: python3 test_bad_input.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import json
import os
import resource
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "..", "policy"))
import bad_texts  # noqa: E402
from lib import (BUILD, Place, Skip, call, case, check, equal, main,
                 need_programs, need_root, one_line, read, wait_for)


def refused(result, *words):
    equal((result.code, result.out), (125, b""), "%r" % result)
    one_line(result, *words)


@case("an unknown option exits 2 and names the nearest")
def _():
    p = Place()
    r = p.run("--timout", "3", "x.py")
    equal(r.code, 2, "exit")
    one_line(r, "--timout", "--timeout")
    check(not os.path.exists(p.state), "a state directory was made")


@case("wrong values of options exit 2")
def _():
    p = Place()
    for words in (["--timeout", "abc"], ["--timeout", "0"],
                  ["--timeout", "-1"], ["--timeout", "1.2345"],
                  ["--timeout", ""], ["--timeout", "99999999999999999999"],
                  ["--memory", "0"], ["--memory", "1e3"], ["--memory", "x"],
                  ["--file", ""], ["--file", ":x"], ["--json=1"],
                  ["--lang", "x" * 100], ["--label", "x" * 300], ["a", "b"]):
        r = p.run("--lang", "bash", *words, "-c", "echo ran")
        check(r.code == 2 and r.out == b"", "%r: %r" % (words, r))
        one_line(r)
    many = [w for i in range(9) for w in ("--file", "/x:%d" % i)]
    equal(p.bash("true", *many).code, 2, "nine files")
    equal(p.bash("true", "--", "x" * 70000).code, 2, "70,000 bytes of args")
    equal(p.run().code, 2, "no code")


@case("a missing file, a directory, an unreadable file exit 125")
def _():
    p = Place()
    refused(p.run(p.path("none.py")), "none.py", "No such file")
    os.mkdir(p.path("dir.py"))
    refused(p.run(p.path("dir.py")), "dir.py", "directory")
    refused(p.run("--lang", "bash", ""), "No such file")
    check(not os.path.exists(p.state), "a state directory was made")


@case("binary code is refused in a line that says where")
def _():
    p = Place()
    refused(p.run("--lang", "bash", "/bin/true"), "binary", "NUL")
    refused(p.run(p.write("nul.py", b"print(1)\0\n")), "byte 8")
    refused(p.run("--lang", "python", "-", stdin=b"a\0b"), "standard input")


@case("empty code is denied and recorded")
def _():
    p = Place()
    r = p.run(p.write("empty.py", ""))
    equal((r.code, r.out), (126, b""), "end")
    one_line(r, "code.empty")
    equal(p.records()[-1]["reasons"], ["code.empty"], "record")
    equal(p.run("--lang", "bash", "-", stdin=b"").code, 126, "stdin")


@case("code of 100 MiB is refused without being read")
def _():
    p = Place()
    with open(p.path("big.py"), "wb") as f:
        f.truncate(100 << 20)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    r = p.run(p.path("big.py"))
    refused(r, "big.py", "64 MiB")
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(after - before < 32 << 10, "%d KiB resident" % (after - before))
    words = " ".join("'%s'" % w for w in p.words("run", "--lang", "bash"))
    r = call(["/bin/bash", "-c",
              "head -c 104857600 /dev/zero | tr '\\0' '#' | %s -" % words])
    equal(r.code, 125, "through a pipe")
    one_line(r, "64 MiB")


@case("code above the policy's limit is denied")
def _():
    p = Place(limits={"code": {"default": 100, "max": 100}})
    equal(p.run(p.write("fits.sh", "#" * 99 + "\n")).code, 0, "100 bytes")
    r = p.run(p.write("big.sh", "#" * 100 + "\n"))
    equal(r.code, 126, "101 bytes")
    one_line(r, "code.too_large")


@case("stdin above the policy's limit is denied")
def _():
    p = Place(limits={"stdin": {"default": 100, "max": 100}})
    equal(p.bash("wc -c", stdin=b"x" * 100).out, b"100\n", "100 bytes")
    r = p.bash("cat", stdin=b"x" * 101)
    equal((r.code, r.out), (126, b""), "101 bytes")
    one_line(r, "stdin.too_large")


class Installation:
    """A copy of the built tree, to be damaged."""

    def __init__(self, place):
        self.root = place.path("tree")
        for name in ("bin", "libexec", "share"):
            shutil.copytree(os.path.join(BUILD, name),
                            os.path.join(self.root, name))
        for folder, _, names in os.walk(self.root):
            for name in names:
                os.chown(os.path.join(folder, name), 0, 0)
        self.front = os.path.join(self.root, "bin", "bailiff")

    def run(self, place, *args):
        words = place.words("run", *args)
        words[0] = self.front
        return call(words)

    def path(self, *parts):
        return os.path.join(self.root, *parts)


@case("a missing toolchain is named with its package")
def _():
    p = Place()
    tree = Installation(p)
    path = tree.path("share/bailiff/languages/python.json")
    with open(path) as f:
        language = json.load(f)
    language["program"] = "/usr/bin/no-such-python"
    with open(path, "w") as f:
        json.dump(language, f)
    try:
        r = tree.run(p, "--lang", "python", "-c", "print(1)")
        check(r.code in (125, 126) and r.out == b"", "%r" % r)
        one_line(r, "python3")
        r = tree.run(p, "--lang", "bash", "-c", "echo fine")
        check(r.out == b"fine\n" or r.code == 125, "the other: %r" % r)
    finally:
        call([tree.front, "stop", "--state", p.state])


@case("a missing program of ours is named")
def _():
    for name in ("bailiff-supervisor", "bailiff-launch", "bailiff-signer"):
        p = Place()
        tree = Installation(p)
        os.unlink(tree.path("libexec/bailiff", name))
        r = tree.run(p, "--lang", "bash", "-c", "echo ran")
        refused(r, name)
    p = Place()
    tree = Installation(p)
    os.unlink(tree.path("libexec/bailiff/bailiff-audit"))
    r = call([tree.front, "audit", "verify", p.state])
    refused(r, "bailiff-audit")


@case("state directories that others own or may write are refused")
def _():
    p = Place()
    os.mkdir(p.state, 0o700)
    os.chown(p.state, 12345, 12345)
    refused(p.bash("echo ran"), "state", "12345")
    os.chown(p.state, 0, 0)
    for mode in (0o770, 0o702, 0o777, 0o1777):
        os.chmod(p.state, mode)
        refused(p.bash("echo ran"), "state", "others may write", "chmod")
    equal(os.listdir(p.state), [], "content")
    os.chmod(p.state, 0o700)
    equal(p.bash("echo ran").code, 0, "put right")


@case("a state directory that is a link, a file or has no parent is refused")
def _():
    p = Place()
    os.mkdir(p.path("real"), 0o700)
    os.symlink("real", p.path("link"))
    refused(p.bash("echo ran", state=p.path("link")), "symbolic link")
    refused(p.bash("echo ran", state=p.write("file", "")), "file")
    refused(p.bash("echo ran", state=p.path("no/such")), "missing")
    check(not os.path.exists(p.path("no")), "a parent was made")
    words = p.words("run", "--lang", "bash", "-c", "echo ran")
    words[words.index(p.state)] = ""
    refused(call(words), "--state")


def mount(words, path):
    done = subprocess.run(["mount"] + words + [path], check=False,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Skip("mount: %s" % done.stderr.decode().strip())


@case("a read-only state directory is refused")
def _():
    p = Place()
    os.mkdir(p.path("ro"))
    mount(["-t", "tmpfs", "-o", "size=1m,mode=700,ro", "bailiff-test"],
          p.path("ro"))
    try:
        refused(p.bash("echo ran", state=p.path("ro")), "read-only")
        refused(p.bash("echo ran", state=p.path("ro/state")), "ead-only")
    finally:
        subprocess.run(["umount", p.path("ro")], check=True)


@case("parts of the state that others own or may write are refused")
def _():
    for name in ("audit", "keys", "results"):
        p = Place()
        equal(p.bash("true").code, 0, "first run")
        p.stop()
        wait_for(lambda: not p.signers(), "the signer's end")
        folder = os.path.join(p.state, name)
        mode = os.stat(folder).st_mode & 0o7777
        os.chmod(folder, mode | 0o022)
        refused(p.bash("echo ran"), name)
        os.chmod(folder, mode)
        equal(p.bash("echo ran").code, 0, "put right")


@case("a full disk is one line, nothing is lost, and space heals it")
def _():
    p = Place()
    disk = p.path("disk")
    os.mkdir(disk)
    mount(["-t", "tmpfs", "-o", "size=6m,mode=700", "bailiff-test"], disk)
    p.state = os.path.join(disk, "state")
    try:
        equal(p.bash("echo fine").out, b"fine\n", "with space")
        # Without a buffer, which would be written once more at the end.
        with open(os.path.join(disk, "fill"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 65536)
            except OSError:
                pass
        before = len(p.records())
        code = "import os;os.write(1, b'x' * 900000)"
        for _ in range(3):
            r = p.python(code)
            check(r.code != 0, "it said all is well: %r" % r)
            check(r.err.startswith(b"bailiff: "), "no reason: %r" % r)
        for name in os.listdir(os.path.join(p.state, "results")):
            if name.startswith("r_"):
                folder = os.path.join(p.state, "results", name)
                check(os.path.exists(os.path.join(folder, "MANIFEST")),
                      "half-made " + name)
        check(len(p.records()) >= before, "records were lost")
        os.unlink(os.path.join(disk, "fill"))
        equal(p.bash("echo again").out, b"again\n", "space again")
        p.stop()
        wait_for(lambda: not p.signers(), "the signer's end")
        r = p.verify()
        check(r.code in (0, 5), "verify %r" % r)
    finally:
        p.remove()
        subprocess.run(["umount", disk], check=True)


@case("corrupt policies are refused with file, line and column")
def _():
    p = Place()
    good = read(p.policy).decode()
    for name, text, words in (
            ("cut.json", good[:len(good) // 2], ["cut.json:"]),
            ("key.json", good.replace('"limits"', '"limts"', 1),
             ["key.json:", "limts", "limits"]),
            ("type.json", good.replace('"version": 1', '"version": "1"'),
             ["type.json:", "version"]),
            ("twice.json", good.replace('"version": 1',
                                        '"version": 1, "version": 1'),
             ["twice.json:2:", "duplicate"]),
            ("empty.json", "", ["empty.json"]),
            ("array.json", "[]", ["array.json"]),
            ("tail.json", good + "x", ["tail.json:"]),
            ("utf8.json", good.replace("default", "d\udcff", 1),
             ["utf8.json:"])):
        path = p.write(name, text.encode("utf-8", "surrogateescape"))
        r = p.bash("echo ran", policy=path)
        refused(r, *words)
    refused(p.bash("echo ran", policy=p.write("bin.json", os.urandom(5000))),
            "bin.json")
    wait_for(lambda: not p.supervisors(), "no supervisor", 30)


@case("no bad text is a policy, and none makes a run go by another")
def _():
    p = Place()
    policy = (b'{\n  "version": 1,\n  "name": "t",\n'
              b'  "languages": { "bash": {} }\n}\n')
    equal(p.bash("echo ran", policy=p.write("good.json", policy)).out,
          b"ran\n", "the good one")
    for name, data, word in bad_texts.of(policy):
        r = p.bash("echo ran", policy=p.write("bad.json", data))
        refused(r, "bad.json", word)
    wait_for(lambda: len(p.supervisors()) == 1, "one supervisor", 30)


@case("policies that are no plain file of one's own are refused")
def _():
    p = Place()
    refused(p.bash("echo ran", policy=p.path("none.json")), "none.json",
            "No such file")
    os.symlink("policy.json", p.path("link.json"))
    refused(p.bash("echo ran", policy=p.path("link.json")), "symbolic link")
    os.mkdir(p.path("dir.json"))
    refused(p.bash("echo ran", policy=p.path("dir.json")), "regular file")
    os.mkfifo(p.path("fifo.json"))
    refused(p.bash("echo ran", policy=p.path("fifo.json")), "regular file")
    refused(p.bash("echo ran", policy="/dev/null"), "regular file")
    refused(p.bash("echo ran", policy=p.write("big.json", " " * 1048577)),
            "1048576")
    path = p.write("shared.json", read(p.policy), 0o664)
    refused(p.bash("echo ran", policy=path), "others may write", "chmod")
    path = p.write("foreign.json", read(p.policy))
    os.chown(path, 12345, 12345)
    refused(p.bash("echo ran", policy=path), "12345")
    wait_for(lambda: not p.supervisors(), "no supervisor", 30)
    check(not os.path.exists(p.state), "a state directory was made")


def log_file(place):
    return os.path.join(place.state, "audit", "log", "000000.jsonl")


def stopped(place):
    place.stop()
    wait_for(lambda: not place.signers(), "the signer's end")


@case("a torn log tail is set aside, recorded, and the log goes on")
def _():
    p = Place()
    equal(p.bash("true").code, 0, "first run")
    stopped(p)
    owner = os.stat(log_file(p))
    with open(log_file(p), "ab") as f:
        f.write(b'{"sig":"half a line')
    equal(p.verify().code, 5, "verify of a torn tail")
    r = p.bash("echo on")
    equal((r.code, r.out), (0, b"on\n"), "%r" % r)
    check("recover" in [x["type"] for x in p.records()], "no recover record")
    stopped(p)
    check(p.verify().code in (0, 5), "verify")
    equal(os.stat(log_file(p)).st_uid, owner.st_uid, "owner")


@case("a corrupt log tail stops the service, and no run goes unrecorded")
def _():
    p = Place()
    equal(p.bash("true").code, 0, "first run")
    stopped(p)
    data = bytearray(read(log_file(p)))
    data[-20] ^= 1
    with open(log_file(p), "r+b") as f:
        f.write(bytes(data))
    equal(p.verify().code, 1, "verify")
    refused(p.bash("echo ran"), "audit")
    equal(read(log_file(p)), bytes(data), "the evidence was changed")


@case("a log that was cut back stops the service")
def _():
    p = Place()
    equal(p.bash("true").code, 0, "first run")
    stopped(p)
    lines = read(log_file(p)).splitlines(keepends=True)
    with open(log_file(p), "wb") as f:
        f.write(b"".join(lines[:-2]))
    check(p.verify().code in (1, 4), "verify")
    refused(p.bash("echo ran"), "audit")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
    main()
