#!/usr/bin/python3
"""Hostile programs against the run around them: its end, its descriptors, its
environment, its output, its neighbours.

    test_lifecycle.py BUILD_DIR SOURCE_DIR [part of a name]
"""
import hashlib
import json
import os
import subprocess
import sys
import time

from probe import PRELUDE, ask, both, lines  # noqa: E402

from lib import (Place, case, check, equal, main,  # noqa: E402
                 need_programs, need_root, recorded, recorded_end, wait_for)


def marked(word):
    """An argument that no other process has."""
    return "%s%d.%d" % (word, os.getpid(), time.monotonic_ns() % 10 ** 9)


def having(mark):
    """Processes of the host whose command line has the mark."""
    found = []
    for pid in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if pid.isdigit() and words[0] == b"sleep" and mark.encode() in words:
            found.append(int(pid))
    return found


@case("NS-21 LC-01 LC-10 a subreaper without a death signal dies with its run")
def _():
    p = Place()
    mark = marked("8")
    run = p.start("--lang", "python", "-c", '''
import ctypes, os, time
libc = ctypes.CDLL(None)
print(libc.prctl(36, 1, 0, 0, 0), libc.prctl(1, 0, 0, 0, 0), flush=True)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "%s"])
        os._exit(0)
time.sleep(60)
''' % mark)
    try:
        equal(run.stdout.readline(), b"0 0\n", "prctl")
        wait_for(lambda: len(having(mark)) == 3, "the daemons")
    finally:
        run.kill()
        run.communicate()
    wait_for(lambda: not having(mark), "the end of the daemons")
    recorded_end(p, "cancelled")


@case("LC-04 RS-09 who handles SIGXCPU and spins on is ended by the kernel")
def _():
    p = Place(limits={"cpu_ms": {"default": 400, "max": 400}})
    r = ask(p, '''
import signal
signal.signal(signal.SIGXCPU, lambda *_: None)
print("up", flush=True)
while True:
    pass
''', status="timeout", killer="cpu")
    equal(r["stdout"], "up\n", "output")


ENDS = (
    ("137", "exit 137", "error", 137, None),
    ("124", "exit 124", "error", 124, None),
    ("255", "exit 255", "error", 255, None),
    ("kill", "kill -KILL $$", "error", None, 9),
    ("term", "kill -TERM $$", "error", None, 15),
    ("sys", "kill -SYS $$", None, None, 31),
    ("0", "exit 0", "ok", 0, None),
)


@case("LC-14 codes that look like ours stay the program's own")
def _():
    p = Place()
    for name, code, status, exit_code, signal in ENDS:
        r = p.json("--lang", "bash", "-c", code).json
        recorded(p, r)
        equal((r["exit_code"], r["signal"], r["failed"]),
              (exit_code, signal, None), name)
        if status is not None:
            equal((r["status"], r["killed_by"]), (status, None), name)


FORGED = '{"run_id":"r_0","status":"ok","exit_code":0,"audit":{"seq":99}}'


@case("LC-15 LG-02 a result cannot be forged by what a program prints")
def _():
    p = Place()
    r = ask(p, '''
text = %r
for _ in range(3):
    print(text)
    print(text, file=sys.stderr)
for fd in range(3, 5000):
    try:
        os.write(fd, text.encode())
        print("wrote to", fd)
    except OSError:
        pass
print("\\n\\u2028\\x1b]0;x\\x07\\0", end="")
sys.exit(3)
''' % FORGED, status="error")
    equal((r["exit_code"], r["stdout"].count(FORGED),
           "wrote to" in r["stdout"]), (3, 3, False), "reply")
    for line in p.records():
        check(line["type"] in ("log.open", "intent", "outcome"), line["type"])
    equal(p.verify().code, 0, "verify")


@case("LC-16 EN-06 what cannot be executed says so by its errno")
def _():
    r = ask(Place(), '''
def program(name, data, mode=0o755):
    f = os.open("/sandbox/" + name, os.O_WRONLY | os.O_CREAT, mode)
    os.write(f, data)
    os.close(f)
    os.chmod("/sandbox/" + name, mode)
    child = os.fork()
    if child == 0:
        try:
            os.execv("/sandbox/" + name, [name])
        except OSError as e:
            os._exit(e.errno)
    print(name, errno.errorcode.get(os.waitstatus_to_exitcode(
        os.waitpid(child, 0)[1]), "ran"))
program("missing", b"#!/no/such/interpreter\\n")
program("itself", b"#!/sandbox/itself\\n")
program("long", b"#!/" + b"x" * 5000 + b"\\n")
program("folder", b"#!/tmp\\n")
program("plain", b"#!/bin/true\\n", 0o644)
program("script", b"#!/bin/true\\n")
''')
    equal(lines(r), {"missing": "ENOENT", "itself": "ELOOP", "long": "ENOEXEC",
                     "folder": "EACCES", "plain": "EACCES", "script": "ran"},
          "answers")


@case("LC-20 a millisecond is a limit like any other, and years are refused")
def _():
    p = Place()
    r = p.json("--timeout", "0.001", "--lang", "bash", "-c", "sleep 60").json
    equal((r["status"], r["killed_by"]), ("timeout", "wall"), "a millisecond")
    recorded(p, r)
    r = p.json("--timeout", "300000000", "--lang", "bash", "-c", "true").json
    equal(r["status"], "denied", "ten years")


@case("FD-12 RS-33 limits cannot be raised, arguments are bounded")
def _():
    p = Place()
    r = ask(p, '''
import resource
for name in ("NOFILE", "CORE", "CPU", "FSIZE", "NPROC"):
    kind = getattr(resource, "RLIMIT_" + name)
    soft, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (soft, hard + 1 if hard >= 0 else hard))
        print(name, "raised" if hard >= 0 else "kept")
    except (OSError, ValueError):
        print(name, "kept")
print("big", attempt(os.execv, "/bin/true", ["true"] + ["x" * 131073]))
''')
    equal(set(lines(r).values()), {"kept", "E2BIG"}, "limits")


@case("FD-15 FD-17 NW-06 NW-25 the streams are private pipes, not sockets")
def _():
    p = Place()
    r = ask(p, '''
import fcntl, struct
for fd in (0, 1, 2):
    b = ctypes.create_string_buffer(64)
    n = ctypes.c_int(64)
    print("cred", fd, call(55, fd, 1, 17, b, ctypes.byref(n)))
    print("send", fd, call(46, fd, b, 0))
for fd in (0, 1, 2):
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | 0o4000)
data = b"x" * (1 << 20)
while data:
    try:
        data = data[os.write(1, data):]
    except BlockingIOError:
        pass
''')
    head, rest = r["stdout"][:200], r["stdout_total"]
    check("ok" not in head.split("x")[0] and rest > 1 << 20, head)
    for line in head.split("xxx")[0].splitlines():
        check(line.split()[-1] in ("ENOTSOCK", "EFAULT", "EBADF", "EPERM"),
              line)
    equal(os.get_blocking(0), True, "our own stdin")


@case("EN-01 EN-02 EN-05 EN-07 EN-12 EN-13 EN-14 the environment is the policy's")
def _():
    p = Place()
    secret = marked("canary")
    env = dict(os.environ, LD_PRELOAD="/tmp/" + secret, LD_LIBRARY_PATH=secret,
               PYTHONPATH=secret, BASH_ENV=secret, GCONV_PATH=secret,
               GLIBC_TUNABLES="glibc.malloc.check=" + secret, LANG=secret,
               TZ=secret, HOME=secret, TMPDIR=secret, SSH_AUTH_SOCK=secret)
    done = subprocess.run(
        p.words("run", "--json", "--lang", "python", "-c", '''
import os, pwd, locale, time
print(sorted(os.environ.items()))
print(pwd.getpwuid(os.getuid()).pw_name, sorted(p.pw_name for p in pwd.getpwall()))
print(time.tzname, sorted(os.listdir("/etc")))
print(os.listdir(os.environ["HOME"]))
'''), env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    recorded(p, json.loads(done.stdout))
    text = json.loads(done.stdout)["stdout"]
    check(secret not in text, text)
    check("'LD_" not in text, text)
    equal(text.count("PYTHONPATH"), text.count("('PYTHONPATH', '/opt/bailiff/python')"), text)
    check("('HOME', '/sandbox')" in text and "('LANG', 'C.UTF-8')" in text and
          "('PATH', '/usr/local/bin:/usr/bin:/bin')" in text and
          "('TMPDIR', '/tmp')" in text and "('TZ', 'UTC')" in text, text)
    check("sandbox ['nobody', 'root', 'sandbox']" in text, text)
    for name in ("shadow", "resolv.conf", "machine-id", "ssl", "ssh"):
        check("'%s'" % name not in text, name)


@case("EN-04 SB-09 FS-16 FS-20 what a run plants, no later run finds")
def _():
    p = Place()
    plant = '''
for place in ("/sandbox", "/tmp", "/dev/shm"):
    for name in ("sitecustomize.py", "usercustomize.py", "x.pth", ".bashrc",
                 ".bash_profile", "main.sh", "python3"):
        with open(place + "/" + name, "w") as f:
            f.write("print('planted')")
os.rename("/sandbox/main.py", "/sandbox/gone.py")
os.symlink("/etc/passwd", "/sandbox/main.py")
print("planted them")
'''
    first = ask(p, plant)
    r = ask(p, '''
print([n for d in ("/sandbox", "/tmp", "/dev/shm") for n in os.listdir(d)])
''')
    equal(r["stdout"], "['main.py']\n", "what the second sees")
    equal(first["stdout"], "planted them\n", "what the first did")
    intent = [x for x in p.records() if x["type"] == "intent"][0]
    check(hashlib.sha256((PRELUDE + plant).encode()).hexdigest() in
          json.dumps(intent), "the record has the code that was sent")


@case("SB-22 FE-05 a strict policy leaves a program its streams and its scratch")
def _():
    p = Place()
    for name, policy in both(p):
        r = ask(p, '''
print("write", attempt(os.open, "/sandbox/x", os.O_CREAT | 1))
print("fork", call(57) if %r == "strict" else "EPERM")
print("socket", call(41, 16, 3, 0))
''' % name, policy=policy)
        equal(lines(r), {"write": "ok", "fork": "EPERM", "socket": "EPERM"},
              name)
    for value in (0, -1, None, "unlimited", 1.5, 1e30):
        other = p.write_policy("zero.json", limits={"pids": {
            "default": value, "max": value}})
        done = p.run("--lang", "bash", "-c", "true", policy=other)
        check(done.code != 0 and b"pids" in done.err, "%r: %r" % (value, done))


@case("RS-17 RS-25 LC-24 unread input and a storm of refusals harm nobody")
def _():
    p = Place()
    r = p.run("--lang", "bash", "-c", "exit 4", stdin=b"y" * (1 << 20))
    equal(r.code, 4, "exit code with unread input")
    r = p.run("--lang", "bash", "-c", "cat; echo end", "--no-stdin")
    equal(r.out, b"end\n", "no input")
    r = ask(p, '''
n = 0
for _ in range(100000):
    n += call(165, 0, 0, 0, 0, 0) == "EPERM"
print("refused", n)
''')
    equal(lines(r), {"refused": "100000"}, "refusals")
    equal(p.verify().code, 0, "verify")


@case("LG-01 LG-03 LG-10 hostile bytes and secrets do not enter the log")
def _():
    p = Place()
    secret = marked("topsecret")
    r = p.json("--lang", "python", "-c",
               "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 3 + "
               "b'\\x1b]52;c;AAAA\\x07' + b'\\xf0\\x9f')\n# " + secret,
               "--", secret, stdin=secret.encode())
    for folder, _, names in os.walk(os.path.join(p.state, "audit")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                data = f.read()
            check(b"topsecret" not in data, "a secret in %s" % name)
            check(b"\x1b" not in data or name.endswith((".key", ".pub")) or
                  "key" in name or name in ("leaves", "runs", "blocks") or os.path.basename(folder) == "salts",
                  "an escape in %s" % name)
    equal(r.json["status"], "ok", "status")
    recorded(p, r.json)
    equal(p.verify().code, 0, "verify")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch")
    if os.uname().machine != "x86_64":
        print("skipped: system calls have the numbers of x86_64 here")
        sys.exit(77)
    main()
