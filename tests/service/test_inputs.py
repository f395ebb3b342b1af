"""What goes into a run beside code and standard input, and what is recorded.

Run as: python3 test_inputs.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import glob
import os

import wire
from inputs import device, digest, recorded
from lib import (Place, case, check, equal, main, need_programs,
                 need_root, one_line, run_directory)


def client(place):
    sockets = glob.glob(run_directory(place.state) + "/*.sock")
    path = [s for s in sockets if not s.endswith("signer.sock")]
    return wire.Client(path[0])


@case("a file that the caller can read is sent along, no root needed")
def _():
    p = Place()
    secret = b"for this run only\0\xff"
    path = p.write("mine", secret, mode=0o600)
    r = p.json("--lang", "bash", "--put", path, "--put", path + ":a b.csv",
               "-c", "sha256sum mine 'a b.csv'; stat -c %a mine; echo >mine")
    equal(r.json["exit_code"], 1, "the copy is not to be written")
    equal(r.json["stdout"], "%s  mine\n%s  a b.csv\n444\n" %
          ((digest(secret),) * 2), "content")
    inputs = recorded(p, r.json["run_id"])
    equal(inputs, [{"kind": "inline", "name": n, "size": len(secret),
                    "sha256": digest(secret)} for n in ("a%20b.csv", "mine")],
          "inputs[]")
    equal(p.verify().code, 0, "the log verifies")


@case("relative paths, pipes and empty files can be sent")
def _():
    p = Place()
    p.write("here/rel", "rel\n")
    got = p.run("--lang", "bash", "--put", "rel", "--put", "/dev/fd/0:piped",
                "--put", "/proc/self/mounts:m", "--no-stdin", "-c",
                "cat rel piped; wc -c <m", stdin=b"piped\n",
                cwd=p.path("here"))
    check(got.out.startswith(b"rel\npiped\n"), "%r" % got)
    empty = p.write("empty", b"")
    got = p.bash("wc -c <empty", "--put", empty)
    equal(got.out, b"0\n", "empty")


@case("what cannot be sent is said in one line and starts nothing")
def _():
    p = Place()
    p.write("big", b"")
    os.truncate(p.path("big"), (64 << 20) + 1)
    for word, code, text in ((p.path("none"), 125, "No such file"),
                             (p.dir, 125, "directory"),
                             ("/dev/zero:z", 125, "device"),
                             (p.path("big"), 125, "64 MiB"),
                             (":x", 2, "no file")):
        got = p.bash("true", "--put", word)
        equal((got.code, got.out), (code, b""), word)
        one_line(got, "--put", text)
    check(not os.path.exists(p.state), "a service was started")


@case("names of sent files are judged like all others")
def _():
    p = Place()
    path = p.write("f", "x\n")
    for name in ("a/b", "..", ".hidden", "-rf", "main.sh", "", "x\ny"):
        got = p.bash("true", "--put", path + ":" + name)
        equal((got.code, got.out), (126, b""), "%r" % name)
        one_line(got, "path.name")
    got = p.bash("true", "--put", path, "--put", path)
    equal(got.code, 126, "twice the same name")
    one_line(got, "path.name")


@case("sent files count against inputs and input_bytes, with host files")
def _():
    p = Place(limits={"inputs": {"default": 2, "max": 2},
                      "input_bytes": {"default": 10, "max": 10}})
    policy = p.write_policy("roots.json", paths={"read": [p.path("data")]},
                            limits={"inputs": {"default": 2, "max": 2},
                                    "input_bytes": {"default": 10, "max": 10}})
    os.mkdir(p.path("data"))
    six = p.write("data/six", b"123456")
    four = p.write("data/four", b"1234")
    got = p.bash("cat f s", "--put", four + ":f", "--put", six + ":s")
    equal((got.code, got.out), (0, b"1234123456"), "ten bytes")
    got = p.bash("true", "--put", six + ":f", "--put", six + ":s")
    equal(got.code, 126, "twelve bytes")
    one_line(got, "inputs.too_large")
    got = p.bash("true", *(["--put", four + ":a", "--put", four + ":b",
                            "--put", four + ":c"]))
    one_line(got, "inputs.too_many")
    # The host file comes first, and yet what is sent is counted.
    got = p.bash("true", "--file", six + ":f", "--put", six + ":s",
                 policy=policy)
    equal(got.code, 126, "file and sent file")
    one_line(got, "path.too_large")
    got = p.bash("cat f s", "--file", six + ":f", "--put", four + ":s",
                 policy=policy)
    equal((got.code, got.out), (0, b"1234561234"), "together ten")
    got = p.bash("true", *(["--put", four] * 9))
    equal(got.code, 2, "nine words")


@case("device, inode, size and digest of a host file are recorded")
def _():
    p = Place()
    os.mkdir(p.path("data"))
    policy = p.write_policy("roots.json", paths={"read": [p.path("data")]})
    path = p.write("data/in put", "content\n")
    other = p.write("other", "o")
    st = os.stat(path)
    r = p.json("--lang", "bash", "--file", path, "--put", other + ":Z", "-c",
               "cat 'in put'", policy=policy)
    equal(r.json["stdout"], "content\n", "content")
    equal(recorded(p, r.json["run_id"]),
          [{"kind": "inline", "name": "Z", "size": 1, "sha256": digest(b"o")},
           {"kind": "file", "name": "in%20put", "dev": device(st),
            "ino": str(st.st_ino), "size": 8,
            "sha256": digest(b"content\n")}], "inputs[]")
    r = p.json("--lang", "bash", "-c", "true", policy=policy)
    equal(recorded(p, r.json["run_id"]), [], "without inputs")


@case("a hostile front gains nothing by its list of inputs")
def _():
    p = Place()
    equal(p.bash("echo up").code, 0, "service")
    c = client(p)
    good = (("", "a", wire.INLINE),)
    first, out, end = c.run("bash", b"cat a", inputs=good, put=(b"data",))
    equal((out, end["status"]), (b"data", "ok"), "a plain one")
    plain = os.memfd_create("plain")
    os.write(plain, b"x")
    for what, inputs, put in (
            ("no descriptor", good, ()),
            ("one too many", good, (b"1", b"2")),
            ("none listed", (), (b"1",)),
            ("an unknown kind", (("", "a", 9),), (b"1",)),
            ("kind 0", (("/etc/passwd", "a", 0),), ()),
            ("inline with a path", (("/etc/passwd", "a", wire.INLINE),),
             (b"1",))):
        denial, out, end = c.run("bash", b"echo ran", inputs=inputs, put=put)
        equal((out, end), (b"", None), what)
        check("request.malformed" in denial["reasons"],
              "%s: %r" % (what, denial))
    fds = [wire.sealed(b"echo ran"), wire.sealed(b""), plain]
    c.send(wire.run(7, "bash", inputs=good), fds)
    _, denial = c.receive()
    check("request.malformed" in denial["reasons"], "not sealed")
    first, out, end = c.run("bash", b"cat a", inputs=good, put=(b"again",))
    equal(out, b"again", "still served")
    c.close()


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-opener")
    main()
