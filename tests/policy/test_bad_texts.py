"""What is no policy, no request and no case file: a clear fault at its place,
never a crash, never a default; whoever reads.

    test_bad_texts.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import resource
import shutil
import socket
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bad_texts  # noqa: E402

BUILD = sys.argv[1]
PROGRAM = os.path.join(BUILD, "libexec/bailiff/bailiff-policy")
LINES = os.path.join(BUILD, "tests/policy_lines")
DECIDE = os.path.join(BUILD, "tests/decide_lines")
LANGUAGES = os.path.join(BUILD, "share/bailiff/languages")
POLICY = b"""{
  "version": 1,
  "name": "t",
  "languages": { "bash": {} },
  "limits": { "wall_ms": { "default": 1000, "max": 2000 } }
}
"""
REQUEST = b"""{
  "language": "bash",
  "code": 5,
  "limits": { "wall_ms": 1000 }
}
"""
# FILE:LINE:COLUMN: pointer: text, or FILE: text.
PLACED = re.compile(r"^(bailiff: )?\S+?(:[0-9]+:[0-9]+)?: .+")
failures = 0


def case(name, wrong):
    global failures
    print(("ok   " if not wrong else "FAIL ") + name)
    for line in wrong[:5]:
        print("     " + line[:600])
    failures += bool(wrong)


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False)


def fault_of(done, word):
    """None when it was refused well, else how not."""
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    lines = text.splitlines()
    if done.returncode != 1:
        return "exit %d: %r" % (done.returncode, text)
    if not lines or len(lines) > 40 or not all(map(PLACED.match, lines)):
        return "not a clear line each: %r" % text
    if word not in text:
        return "no word of %r: %r" % (word, text)
    if not all(c.isprintable() or c == "\n" for c in text):
        return "bytes that steer a terminal: %r" % text
    return None


class Work:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bailiff-test-")
        self.policy = self.write("good.json", POLICY)

    def write(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(data)
        os.chmod(path, 0o644)
        return path

    def readers(self, name, data):
        """The commands that read 'data' as 'name'."""
        path = self.write(name, data)
        if name == "policy":
            yield "check", ["check", path]
            yield "explain", ["explain", "--policy", path, "--lang", "bash",
                              "-c", "true"]
        else:
            yield "explain", ["explain", "--policy", self.policy,
                              "--request", path]


def texts(work):
    for name, good in (("policy", POLICY), ("request", REQUEST)):
        wrong = []
        n = 0
        for what, data, word in bad_texts.of(good):
            for reader, words in work.readers(name, data):
                fault = fault_of(run(*words), word)
                n += 1
                if fault:
                    wrong.append("%s, %s: %s" % (what, reader, fault))
        case("%d bad texts as a %s are refused in clear lines" % (n, name),
             wrong)
    wrong = []
    for what, data, _ in bad_texts.of(POLICY):
        done = run("test", work.policy, work.write("cases.json", data))
        fault = fault_of(done, "")
        if fault:
            wrong.append("%s: %s" % (what, fault))
    case("and as a case file", wrong)


def lines_of(words, texts_in):
    """What a driver that reads a text a line says of each."""
    done = subprocess.run(words, input=b"".join(t + b"\n" for t in texts_in),
                          capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.decode().splitlines()


def languages():
    return [os.path.join(LANGUAGES, name)
            for name in sorted(os.listdir(LANGUAGES)) if name.endswith(".json")]


def prefixes(work):
    """No part of a good text is one, and no byte may be anything else."""
    for name, good, words in (
            ("policy", POLICY, [LINES, *languages()]),
            ("request", REQUEST, [DECIDE, work.policy, LANGUAGES])):
        flat = b" ".join(good.split())
        cut = [flat[:n] for n in range(1, len(flat))]
        said = lines_of(words, cut + [flat])
        taken = [repr(cut[i]) for i, line in enumerate(said[:-1])
                 if not line.startswith(("no\t", "fault\t"))]
        case("no beginning of a %s is one" % name, taken +
             ([] if said[-1].startswith(("ok", "allow")) and
              len(said) == len(cut) + 1 else [repr(said[-1])]))
        bent = [flat[:i] + bytes([b]) + flat[i + 1:] for i in range(len(flat))
                for b in (0, 0x80, 0xff, 0x7f, ord('"'), ord("{"), ord("\\"))]
        said = lines_of(words, bent)
        case("bytes of a %s bent, %d texts: an answer to each" % (
            name, len(bent)), [] if len(said) == len(bent) else [
                "%d answers" % len(said)])


def numbers(work):
    wrong = []
    for number in bad_texts.NUMBERS:
        for name, good, old in (("policy", POLICY, b'"default": 1000'),
                                ("policy", POLICY, b'"max": 2000'),
                                ("policy", POLICY, b'"version": 1'),
                                ("request", REQUEST, b'"wall_ms": 1000'),
                                ("request", REQUEST, b'"code": 5')):
            if name == "request" and b"code" in old and number == b'"5"':
                continue  # a program text
            new = old.split(b":")[0] + b": " + number
            for reader, words in work.readers(name, good.replace(old, new)):
                fault = fault_of(run(*words), ":")
                if fault:
                    wrong.append("%s %s: %s" % (reader, new, fault))
    case("what is no whole number of ours is none of the limits", wrong)


def odd_files(work):
    """FIFOs, directories and their like never block, nor are they read."""
    fifo = os.path.join(work.dir, "fifo")
    os.mkfifo(fifo, 0o600)
    sock = os.path.join(work.dir, "socket")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(sock)
    link = os.path.join(work.dir, "link")
    os.symlink("good.json", link)
    loop = os.path.join(work.dir, "loop")
    os.symlink("loop", loop)
    request = work.write("request", REQUEST)
    wrong = []
    for path in (fifo, sock, work.dir, "/dev/null", "/dev/zero", loop,
                 os.path.join(work.dir, "none"), os.path.join(request, "x"),
                 "/proc/self/mem", ""):
        for words in (["check", path],
                      ["explain", "--policy", path, "--request", request],
                      ["explain", "--policy", work.policy, "--request", path],
                      ["test", work.policy, path]):
            # An empty word is the lack of one.
            if path == "" and words[0] == "check":
                continue
            done = run(*words)
            text = (done.stdout + done.stderr).decode()
            if done.returncode not in (1, 2) or text.count("\n") != 1:
                wrong.append("%r: exit %d, %r" % (words, done.returncode, text))
    done = run("check", link)
    if done.returncode != 1 or b"symbolic link" not in done.stderr:
        wrong.append("a link: %r" % done)
    case("FIFO, socket, directory, device, link: one line, no waiting", wrong)


def others_may_write(work):
    wrong = []
    for mode in (0o664, 0o646, 0o622, 0o666, 0o777):
        path = work.write("open.json", POLICY)
        os.chmod(path, mode)
        for words in (["check", path],
                      ["explain", "--policy", path, "--lang", "bash", "-c",
                       "x"]):
            fault = fault_of(run(*words), "writable")
            if fault:
                wrong.append("%o: %s" % (mode, fault))
    case("a policy that others may write is refused", wrong)
    if os.geteuid() != 0:
        print("skip a policy of another account: needs root")
        return
    path = work.write("foreign.json", POLICY)
    os.chown(path, 1900065535, 1900065535)
    fault = fault_of(run("check", path), "owned by uid")
    case("a policy of another account is refused", [fault] if fault else [])


def bounded(work):
    """The largest text costs little memory, whatever it holds."""
    wrong = []
    for what, data in (
            ("keys", b"{" + b",".join(b'"%05x":0' % n for n in range(95000)) +
             b"}"),
            ("lists", b"[" + b"[]," * 300000 + b"[]]"),
            ("one text", b'{"x":"' + b"y" * 1048000 + b'"}'),
            ("escapes", b'{"x":"' + b"\\u0041" * 170000 + b'"}')):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        path = work.write("large", data)
        for words in (["check", path],
                      ["explain", "--policy", work.policy, "--request", path]):
            fault = fault_of(run(*words), "")
            if fault:
                wrong.append("%s: %s" % (what, fault))
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        if after > max(before, 32 << 10):
            wrong.append("%s: %d KiB resident" % (what, after))
    case("texts of 1 MiB take less than 32 MiB", wrong)


def answers_are_json(work):
    """With --json a refused policy is one object, hostile bytes and all."""
    wrong = []
    for what, data, _ in bad_texts.of(POLICY):
        path = work.write("policy", data)
        done = run("check", "--json", path)
        if len(data) > bad_texts.MIB and not done.stdout:
            continue  # not read at all: a line on standard error
        try:
            answer = json.loads(done.stdout.decode())
            if answer["ok"] or not answer["faults"]:
                wrong.append("%s: %r" % (what, answer))
        except (ValueError, KeyError) as e:
            wrong.append("%s: %s: %r" % (what, e, done))
    case("--json stays JSON", wrong)


def main():
    work = Work()
    try:
        if not stat.S_ISREG(os.stat(PROGRAM).st_mode):
            raise RuntimeError(PROGRAM)
        for part in (texts, prefixes, numbers, odd_files, others_may_write,
                     bounded, answers_are_json):
            part(work)
    finally:
        shutil.rmtree(work.dir)
    return 1 if failures else 0


sys.exit(main())
