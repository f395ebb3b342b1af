#!/usr/bin/python3
"""bailiff-launch, driven by launch_driver: what a run is, what it cannot do,
and what is left when something dies.

    test_launch.py BUILD_DIR SOURCE_DIR

Needs root.  Touches only processes, groups and files that it makes.
"""
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

BUILD = sys.argv[1]
DRIVER = os.path.join(BUILD, "tests", "launch_driver")
LAUNCH = os.path.join(BUILD, "libexec", "bailiff", "bailiff-launch")
PYTHON = "/usr/bin/python3"
PATIENCE_S = 300
failures = []
ours = set()  # instances of this test; others may run beside it


def check(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"))
    if not ok:
        failures.append(name)


def drive(*args, program=("/usr/bin/true",)):
    r = subprocess.run([DRIVER, *args, LAUNCH, *program], text=True,
                       stdin=subprocess.DEVNULL, capture_output=True,
                       errors="replace", timeout=PATIENCE_S)
    ours.add(value(r.stdout, "instance"))
    return r


def python(code, *args):
    """Run Python code inside; its output."""
    return drive(*args, program=(PYTHON, "-I", "-S", "-c", code))


def shell(code, *args):
    return drive(*args, program=("/usr/bin/bash", "-c", code))


def value(text, name):
    """The rest of the first line that begins with 'name '."""
    m = re.search("^" + re.escape(name) + r"[ \t]+(.*)$", text, re.M)
    return m.group(1).strip() if m else ""


def groups():
    """Every instance directory of every hierarchy on this host."""
    found = {}
    for line in open("/proc/self/mountinfo"):
        words = line.split()
        if words[words.index("-") + 1] not in ("cgroup", "cgroup2"):
            continue
        top = os.path.join(words[4], "bailiff")
        if os.path.isdir(top):
            for name in os.listdir(top):
                if re.fullmatch("[0-9a-f]{32}", name):
                    found[os.path.join(top, name)] = name
    return found


def left():
    """Groups of instances that this test made."""
    return sorted(p for p, name in groups().items() if name in ours)


def alive(pid):
    try:
        state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(what, seconds=20):
    for _ in range(seconds * 50):
        if what():
            return True
        time.sleep(0.02)
    return False


# ---------------------------------------------------------------- posture

def test_posture():
    r = drive("-S")
    t = r.stdout
    check("the conversation goes through", r.returncode == 0 and
          "done" in t, t + r.stderr)
    for field in ("Uid", "Gid"):
        ids = value(t, f"program status {field}:").split()
        check(f"all four {field} are the program's",
              len(ids) == 4 and set(ids) == {re.search(
                  r"program=(\d+)", value(t, "ids")).group(1)}, ids)
    check("the program's uid is of our range",
          1900000008 < int(ids[0]) <= 1900065535, ids)
    check("no supplementary group",
          value(t, "program status Groups:") == "",
          value(t, "program status Groups:"))
    for who in ("program", "init"):
        caps = {c: value(t, f"{who} status {c}:")
                for c in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
        check(f"every capability set of {who} is empty",
              set(caps.values()) == {"0" * 16}, caps)
        check(f"{who} has no_new_privs and one filter",
              (value(t, f"{who} status NoNewPrivs:"),
               value(t, f"{who} status Seccomp:"),
               value(t, f"{who} status Seccomp_filters:")) == ("1", "2", "1"))
    check("nine rows were applied and proven",
          "steps=9" in value(t, "stopped"), value(t, "stopped"))
    own = {n: os.readlink(f"/proc/self/ns/{n}")
           for n in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")}
    same = [n for n, link in own.items()
            if value(t, f"program ns/{n}") in ("", link)]
    check("every namespace is its own", same == [], same)
    check("five descriptors and no more",
          value(t, "program fds") == "0 1 2 4094 4095",
          value(t, "program fds"))
    check("setgroups is denied", value(t, "program setgroups") == "deny")
    run = value(t, "program cgroup 0::")
    run = re.search(r"^program cgroup 0::(/bailiff/[0-9a-f]{32}/[0-9a-f]{16})$",
                    t, re.M)
    check("it is in a leaf of its own", run is not None)
    check("code belongs to pid 1's uid, mode 0444, and the scratch is read-only",
          re.search(r"scratch main uid=(\d+) mode=444 .*write=Read-only",
                    t) is not None, value(t, "scratch"))
    check("no signal is blocked, ignored or handled",
          {value(t, f"program status {f}:")
           for f in ("SigBlk", "SigIgn", "SigCgt")} == {"0" * 16})
    m = re.search(r"^program limits Max core file size +(\S+) +(\S+)", t, re.M)
    check("there is no core dump", m is not None and
          m.groups() in (("1", "1"), ("0", "0")), m and m.groups())
    limits = {"Max open files": "64",
              "Max file size": str(8 << 20), "Max cpu time": "21"}
    for name, wanted in limits.items():
        m = re.search(rf"^program limits {name} +(\S+) +(\S+)", t, re.M)
        check(f"hard and soft of '{name}' are {wanted}",
              m is not None and m.groups() == (wanted, wanted),
              m and m.groups())


def test_mounts():
    t = drive("-S").stdout
    lines = re.findall(r"^program mountinfo \S+ \S+ \S+ \S+ (\S+) (\S+)", t,
                       re.M)
    points = {p: set(flags.split(",")) for p, flags in lines}
    wanted = {"/", "/dev", "/dev/shm", "/usr", "/sandbox", "/tmp", "/proc"}
    nested = {p for p in points if p.startswith("/usr/")}
    check("the mount table is exactly ours",
          set(points) - nested == wanted, sorted(points))
    check("nothing is a mount twice", len(points) == len(lines), lines)
    check("all are nosuid", all("nosuid" in f for f in points.values()))
    check("only /dev has devices",
          {p for p, f in points.items() if "nodev" not in f} == {"/dev"})
    check("the view is read-only",
          all("ro" in points[p] for p in {"/", "/dev", "/usr"} | nested))


NOEXEC = """
import mmap, os
def code_in(place):
    fd = os.open(place + "/code", os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, b"\\xc3" * 11)
    return fd
print("reads", os.pread(0, 99, 0))
for place in ("/sandbox", "/tmp", "/dev/shm", "stdin"):
    fd = code_in(place) if place != "stdin" else 0
    try:
        mmap.mmap(fd, 11, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        print("mapped", place)
    except PermissionError:
        print("refused", place)
"""


def test_noexec():
    places = ("/sandbox", "/tmp", "/dev/shm", "stdin")
    for option, word in (("-X", "refused"), ("-S", "mapped")):
        t = python(NOEXEC, option).stdout
        check(f"SC-19 code from what the caller or the program wrote is {word} "
              f"with {option}", all(f"{word} {p}" in t for p in places), t)
        check("standard input is read all the same", r"from stdin\n" in t, t)


ESCAPES = r'''
import ctypes, os, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    f = getattr(libc, name)
    r = f(*args)
    return 0 if r >= 0 else ctypes.get_errno()
def show(name, result):
    print("try", name, errno.errorcode.get(result, result))
MS_REMOUNT, MS_BIND = 32, 4096
show("remount-usr", call("mount", None, b"/usr", None, MS_REMOUNT | MS_BIND, None))
show("remount-root", call("mount", None, b"/", None, MS_REMOUNT | MS_BIND, None))
show("umount-usr", call("umount2", b"/usr", 2))
show("mount-tmpfs", call("mount", b"x", b"/tmp", b"tmpfs", 0, None))
show("unshare-user", call("unshare", 0x10000000))
show("setuid-0", call("setuid", 0))
show("setuid-init", call("setuid", 1001))
show("chroot", call("chroot", b"/tmp"))
show("sethostname", call("sethostname", b"x", 1))
def path(name, fn):
    try:
        fn()
        show(name, 0)
    except OSError as e:
        show(name, e.errno)
path("write-usr", lambda: open("/usr/x", "w"))
path("write-root", lambda: open("/x", "w"))
path("read-sentinel", lambda: open("/.sentinel"))
path("write-sentinel", lambda: open("/.sentinel", "w"))
path("write-code", lambda: open("/sandbox/main", "w"))
path("proc-1", lambda: os.stat("/proc/1"))
path("proc-sys", lambda: os.stat("/proc/sys"))
path("proc-kcore", lambda: os.stat("/proc/kcore"))
path("sys", lambda: os.stat("/sys"))
path("root-home", lambda: os.stat("/root"))
path("var", lambda: os.stat("/var"))
path("run", lambda: os.stat("/run/bailiff"))
path("dev-mem", lambda: os.stat("/dev/mem"))
path("dev-tty", lambda: open("/dev/tty"))
path("mknod", lambda: os.mknod("/tmp/null", 0o20666, os.makedev(1, 3)))
path("kill-init", lambda: os.kill(1, 9))
path("gate", lambda: os.fstat(4094))
path("program", lambda: os.fstat(4095))
path("dup-4095", lambda: os.dup2(0, 4095))
path("dev-null", lambda: open("/dev/null", "w").write("x"))
path("sandbox", lambda: open("/sandbox/y", "w").write("x"))
path("tmp", lambda: open("/tmp/y", "w").write("x"))
path("shm", lambda: open("/dev/shm/y", "w").write("x"))
print("environ", sorted(os.environ))
print("pids", sorted(int(p) for p in os.listdir("/proc") if p.isdigit()))
print("parent", os.stat("/..").st_ino == os.stat("/").st_ino)
print("host", os.uname().nodename)
print("cwd", os.getcwd())
print("session", os.getsid(0) == os.getpid())
'''


def test_escapes():
    t = python(ESCAPES).stdout
    seen = dict(re.findall(r"^try (\S+) (\S+)$", t, re.M))
    wanted = {
        "remount-usr": "EPERM", "remount-root": "EPERM", "umount-usr": "EPERM",
        "mount-tmpfs": "EPERM", "unshare-user": "EPERM", "chroot": "EPERM",
        "sethostname": "EPERM", "setuid-0": {"EPERM", "EINVAL"},
        "setuid-init": "EPERM", "write-usr": "EROFS|EACCES",
        "write-root": "EROFS|EACCES", "read-sentinel": "EACCES",
        "write-sentinel": "EROFS|EACCES", "write-code": "EACCES",
        "proc-1": "ENOENT", "proc-sys": "ENOENT", "proc-kcore": "ENOENT",
        "sys": "ENOENT", "root-home": "ENOENT", "var": "ENOENT",
        "run": "ENOENT", "dev-mem": "ENOENT", "dev-tty": "ENOENT|ENXIO",
        "mknod": "EPERM", "kill-init": "EPERM", "gate": "EBADF",
        "program": "EBADF", "dup-4095": "EBADF", "dev-null": "0",
        "sandbox": "0", "tmp": "0", "shm": "0"}
    for name, answers in wanted.items():
        if isinstance(answers, str):
            answers = set(answers.split("|"))
        check(f"inside: {name}", seen.get(name) in answers, seen.get(name))
    pids = value(t, "pids")
    check("it sees itself and no other process",
          re.fullmatch(r"\[\d+\]", pids) is not None, pids)
    check("its environment is what the request said",
          value(t, "environ") in ("['PATH']", "['LC_CTYPE', 'PATH']"),
          value(t, "environ"))
    check("nothing lies above its root", value(t, "parent") == "True")
    check("the host name is sandbox", value(t, "host") == "sandbox")
    check("its cwd is /sandbox", value(t, "cwd") == "/sandbox")
    check("it leads its session", value(t, "session") == "True")


NETWORK = r'''
import socket, os
def connect(where):
    s = socket.socket()
    s.settimeout(3)
    try:
        s.connect(where)
        return "connected"
    except OSError as e:
        return os.strerror(e.errno) if e.errno else str(e)
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
print("loopback", connect(server.getsockname()))
print("outside", connect(("192.0.2.1", 80)))
'''


def test_network():
    t = python(NETWORK).stdout
    check("loopback works", value(t, "loopback") == "connected", t)
    check("there is no way out", "unreachable" in value(t, "outside"), t)
    t = python("import socket\ntry:\n  socket.socket()\n  print('made')\n"
               "except OSError as e:\n  print('errno', e.errno)\n", "-L").stdout
    check("without loopback there is no socket at all",
          value(t, "errno") == "1", t)


def test_streams():
    t = shell("cat; echo to-out; echo to-err >&2; exit 7").stdout
    check("stdin arrives", "from stdin" in t)
    check("stdout and stderr arrive", "to-out" in t and "to-err" in t)
    check("the exit code arrives", "ended kind=1 value=7" in t, t)
    t = shell("kill -TERM $$").stdout
    check("the signal arrives", "ended kind=2 value=15" in t, t)
    t = python("import os\n"
               "for fd, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY)):\n"
               "  try:\n    os.write(0, b'x') if fd == 0 else os.read(1, 1)\n"
               "    print('stream', fd, 'open')\n"
               "  except OSError as e:\n    print('stream', fd, e.errno)\n"
               ).stdout
    check("stdin cannot be written", "stream 0 9" in t, t)
    check("stdout cannot be read", "stream 1 9" in t, t)
    t = shell("cat in.txt; stat -c '%u %a' in.txt", "-I", "in.txt").stdout
    check("an input is there", "an input" in t and "1001 444" in t, t)
    t = shell("sleep 300 >/dev/null 2>&1 & setsid sleep 300 & disown; "
              "echo end").stdout
    check("what the program leaves behind dies with it",
          "ended kind=1 value=0" in t and "populated 0" in t, t)


# ---------------------------------------------------------------- limits

def test_memory():
    t = python("b = bytearray(512 << 20)\nprint('survived')",
               "-m", str(64 << 20)).stdout
    check("memory: killed", "survived" not in t and
          "ended kind=2 value=9" in t or "ended-silent" in t, t)
    check("memory: the kernel counted it",
          re.search(r"oom_kill [1-9]", value(t, "counter memory-oom"))
          is not None, value(t, "counter memory-oom"))
    t = python("open('/tmp/x','wb').write(bytes(48 << 20))\nprint('survived')",
               "-m", str(64 << 20), "-f", str(1 << 30),
               "-s", str(200 << 20)).stdout
    peak = int(value(t, "counter memory-peak") or 0)
    check("memory: scratch is charged to the run",
          "survived" not in t or peak >= 48 << 20, (peak, t))


def test_pids():
    t = python("import os, time\nn = 0\n"
               "try:\n  while n < 200:\n    if os.fork() == 0:\n"
               "      time.sleep(60)\n      os._exit(0)\n    n += 1\n"
               "except OSError as e:\n  print('forked', n, e.errno)\n",
               "-p", "16").stdout
    check("pids: fork says EAGAIN at the limit", "forked 15 11" in t, t)
    check("pids: the kernel counted it",
          re.search(r"max [1-9]", value(t, "counter pids-events"))
          is not None, value(t, "counter pids-events"))
    t = shell(":(){ :|:& };: ; wait", "-p", "64", "-w", "1500").stdout
    check("pids: a fork bomb ends and leaves nothing",
          "populated 0" in t and "released yes" in t, t[-600:])
    check("pids: the host still forks",
          subprocess.run(["/bin/true"]).returncode == 0)


def test_files():
    t = python("import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
               "f = open('/tmp/x', 'wb', buffering=0)\nn = 0\n"
               "try:\n  while n < 99:\n    n += f.write(bytes(1 << 20)) >> 20\n"
               "except OSError as e:\n  print('wrote', n, e.errno)\n",
               "-f", str(2 << 20)).stdout
    check("file size: EFBIG at the limit", "wrote 2 27" in t, t)
    t = python("import os\nn = 0\ntry:\n  while n < 999:\n"
               "    os.open('/dev/null', os.O_RDONLY)\n    n += 1\n"
               "except OSError as e:\n  print('opened', n, e.errno)\n",
               "-o", "20").stdout
    check("open files: EMFILE at the limit", "opened 17 24" in t, t)
    t = python("n = 0\ntry:\n  for i in range(99):\n"
               "    open(f'/tmp/{i}', 'wb').write(bytes(1 << 20))\n    n += 1\n"
               "except OSError as e:\n  print('filled', n, e.errno)\n",
               "-s", str(4 << 20)).stdout
    check("scratch: ENOSPC at its size",
          re.search(r"filled [34] 28", t) is not None, t)
    t = python("n = 0\ntry:\n  for i in range(999):\n"
               "    open(f'/dev/shm/{i}', 'wb')\n    n += 1\n"
               "except OSError as e:\n  print('made', n, e.errno)\n",
               "-i", "50").stdout
    check("scratch: ENOSPC at its inodes",
          re.search(r"made (49|50|51) 28", t) is not None, t)


def test_time():
    t = shell("echo on; sleep 30", "-w", "300").stdout
    check("wall: pid 1 ends the run by itself",
          "ended kind=2 value=9 wall=1" in t, t)
    t = shell("while :; do :; done", "-u", "1000", "-w", "15000").stdout
    check("cpu: the kernel ends the program",
          re.search(r"ended kind=2 value=(24|9) wall=0", t) is not None, t)
    t = python("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
               "import os\nos.kill(os.getpid(), signal.SIGSTOP)\n",
               "-w", "300").stdout
    check("wall: a stopped program ends too", "wall=1" in t, t)


# --------------------------------------------------------------- failures

def failed_step(t):
    m = re.search(r"^(?:step-)?failed step=(\S+) errno=(\d+) text=(.*) "
                  r"remedy=(.+)$", t, re.M)
    return (m.group(1), int(m.group(2)), m.group(3)) if m else (None, 0, "")


def test_failures():
    with tempfile.TemporaryDirectory() as d:
        def filter_file(data):
            path = os.path.join(d, "filter")
            open(path, "wb").write(data)
            return path

        ok = struct.pack("<HBBI", 6, 0, 0, 0x7fff0000)
        cases = [
            ("no such program", [], ["/usr/bin/no-such"], "program", 2),
            ("a directory as program", [], ["/usr/bin"], "program", 0),
            ("a relative program", [], ["usr/bin/true"], "program", 0),
            ("a program that is none", [], ["/usr/share/dict/README.select-wordlist"
             if os.path.exists("/usr/share/dict/README.select-wordlist")
             else "/etc/passwd"], ("program", "exec"), None),
            ("a program outside the view", [], ["/etc/hostname"], "program", 2),
            ("an empty filter", ["-F", filter_file(b"")], None, "filter", 0),
            ("half an instruction", ["-F", filter_file(b"abc")], None,
             "filter", 0),
        ]
        for name, args, program, step, number in cases:
            r = drive(*args, program=program or ["/usr/bin/true"])
            got = failed_step(r.stdout)
            steps = step if isinstance(step, tuple) else (step,)
            check(f"{name}: step {'/'.join(steps)}", got[0] in steps and
                  (number is None or got[1] == number) and got[2] != "",
                  r.stdout + r.stderr)
        for name, data, step in [
                ("a filter that the kernel refuses", b"\xff" * 8, "filter"),
                ("a filter that allows everything", ok, "filter")]:
            r = drive("-F", filter_file(data))
            got = failed_step(r.stdout)
            check(f"{name}: step {step}", got[0] == step, r.stdout + r.stderr)
        for name, input_name in [("a slash", "a/b"), ("dots", ".."),
                                 ("the code's own name", "main")]:
            r = drive("-I", input_name)
            check(f"an input named by {name}: step scratch",
                  failed_step(r.stdout)[0] == "scratch", r.stdout)
        r = drive("-s", "4096", "-c", LAUNCH)
        check("code larger than the scratch: step scratch, ENOSPC",
              failed_step(r.stdout)[:2] == ("scratch", 28), r.stdout)
        r = drive("-s", "0")
        check("a scratch of size 0 is refused, not unbounded",
              failed_step(r.stdout)[0] == "scratch", r.stdout)
        r = drive("-m", "4096")
        check("one page of memory: a named failure",
              failed_step(r.stdout)[0] is not None or
              "released yes" in r.stdout, r.stdout + r.stderr)
        r = drive("-R")
        steps = re.findall(r"^failed step=(\S+)", r.stdout, re.M)
        check("requests out of order are refused by name, the next run works",
              steps == ["release", "request", "request", "request"] and
              "ended kind=1 value=0" in r.stdout, r.stdout)
    check("failures leave no group", left() == [], left())


def test_gate():
    t = drive("-x", "close-gate", program=("/usr/bin/touch", "x")).stdout
    check("a gate that closes ends the program before its first instruction",
          "ended kind=2 value=9" in t and "released yes" in t, t)


# ------------------------------------------------------------------ deaths

def held(*extra):
    """A driver that holds a run at its stop; its processes."""
    p = subprocess.Popen([DRIVER, "-S", *extra, "-H", LAUNCH,
                          "/usr/bin/sleep", "300"], text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    lines = []
    for line in p.stdout:
        lines.append(line)
        if line.startswith("ids "):
            break
    t = "".join(lines)
    pids = {"launch": int(value(t, "launch")),
            "init": int(value(t, "init status Pid:")),
            "program": int(value(t, "program status Pid:"))}
    group = re.search(r"^program cgroup 0::/bailiff/([0-9a-f]{32})/", t, re.M)
    ours.add(group.group(1))
    return p, pids, group.group(1)


def gone(pids, *names):
    return wait_until(lambda: not any(alive(pids[n]) for n in names))


def test_deaths():
    for victim in ("launch", "driver"):
        p, pids, instance = held()
        os.kill(pids["launch"] if victim == "launch" else p.pid,
                signal.SIGKILL)
        check(f"kill -9 of the {victim}: no process survives",
              gone(pids, "init", "program"), pids)
        if victim == "driver":
            p.wait()
            check("without its supervisor the launcher ends and removes all",
                  gone(pids, "launch") and
                  instance not in groups().values() and
                  not os.path.exists(f"/run/bailiff/instances/{instance}"))
        else:
            check("its groups are empty at least",
                  wait_until(lambda: all(
                      open(f"{path}/cgroup.procs").read() == ""
                      for path, name in groups().items() if name == instance)))
            p.kill()
            p.wait()
            drive()
            check("the next start sweeps them and the lock file",
                  instance not in groups().values() and
                  not os.path.exists(f"/run/bailiff/instances/{instance}"))
    p, pids, instance = held()
    drive()
    check("a start leaves a living instance alone",
          alive(pids["program"]) and instance in groups().values())
    os.kill(pids["program"], signal.SIGKILL)
    check("the program's death is pid 1's", gone(pids, "init"))
    p.kill()
    p.wait()
    gone(pids, "launch")
    p, pids, instance = held()
    os.kill(pids["init"], signal.SIGKILL)
    check("pid 1's death is the program's", gone(pids, "program"))
    p.kill()
    p.wait()
    gone(pids, "launch")


def test_launcher_itself():
    p, pids, _ = held()
    status = open(f"/proc/{pids['launch']}/status").read()
    bits = (0, 2, 6, 7, 8, 12, 18, 21)
    wanted = f"{sum(1 << b for b in bits):016x}"
    for field, caps in (("CapEff", wanted), ("CapPrm", wanted),
                        ("CapBnd", wanted), ("CapInh", "0" * 16),
                        ("CapAmb", "0" * 16)):
        check(f"the launcher's {field} is what runs take",
              value(status, f"{field}:") == caps, value(status, f"{field}:"))
    check("the launcher has no group", value(status, "Groups:") == "")
    check("the launcher and its supervisor are in bailiff/services", all(
        f":/bailiff/services" in open(f"/proc/{n}/cgroup").read()
        for n in (pids["launch"], p.pid)))
    root = os.stat(f"/proc/{pids['launch']}/root/")
    check("the launcher's root is the view", root.st_ino !=
          os.stat("/").st_ino and not
          os.path.exists(f"/proc/{pids['launch']}/root/etc/shadow"))
    p.kill()
    p.wait()
    gone(pids, "launch", "init", "program")


def test_hosts():
    """Other hosts, as far as a mount namespace can play them."""
    def play(script):
        r = subprocess.run(
            ["/usr/bin/unshare", "-m", "/bin/bash", "-c",
             script + f'; exec "$@"', "-", DRIVER, LAUNCH, "/usr/bin/true"],
            text=True, capture_output=True, stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S)
        ours.add(value(r.stdout, "instance"))
        return r.stdout + r.stderr

    if "cgroup=hybrid" not in drive().stdout:
        print("note: no hybrid host, other modes not played")
        return
    t = play("umount /sys/fs/cgroup/unified")
    check("a host with v1 alone works: v2 is mounted for ourselves",
          "cgroup=v1" in t and "ended kind=1 value=0" in t, t)
    t = play("umount /sys/fs/cgroup/memory")
    check("without a memory controller nothing starts, and it is named",
          "build-failed step=cgroup" in t and "no memory controller" in t, t)
    t = play("umount -l /sys/fs/cgroup")
    check("without control groups nothing starts, and it is named",
          "build-failed step=cgroup" in t, t)
    t = play("ulimit -n 1024")
    check("a low hard limit of open files is named at BUILD",
          "build-failed step=start" in t and "hard limit of open files" in t, t)
    check("none of them left a group", left() == [], left())


def test_entries():
    for path in ("", "/", "/etc", "..", ".", "a/../b", "a/./b", "a//b", "a/",
                 "proc", "proc/x", "sandbox", "tmp", "dev", "dev/mem",
                 ".sentinel", "a" * 256, "bin/x", "etc/passwd/x"):
        t = drive("-E", path).stdout
        check(f"a view with an entry '{path[:20]}' is not built",
              "build-failed step=entry" in t and "\nready" not in t, t)
    for path in ("usr", "etc/passwd", "usr/bin/none-of-that-name", "usr/bin/ls/x",
                 "usr/none/x", "usr/../etc", "usr/", "proc/x", "bin/ls", "x"):
        t = drive("-W", path).stdout
        check(f"a view with a whiteout '{path}' is not built",
              "build-failed step=entry" in t and "\nready" not in t, t)
    t = drive("-W", "usr/bin/ls", program=("/usr/bin/dir", "/usr/bin/ls", "/usr/bin/cat")).stdout
    check("what a whiteout names is absent, and nothing else",
          "\n/usr/bin/cat\n" in t and "\n/usr/bin/ls\n" not in t, t)
    t = drive("-E", "opt/a/b", program=("/usr/bin/ls", "/opt/a")).stdout
    check("missing parents of an entry are made", "\nb\n" in t, t)


def test_shapes():
    r = drive("-A", "-S", "-n", "6")
    t = r.stdout
    check("runs of two shapes in turn go through", r.returncode == 0 and
          t.count("ended kind=1 value=0") == 6, t + r.stderr)
    flags = re.findall(r"^program mountinfo \S+ \S+ \S+ \S+ /sandbox (\S+)", t,
                       re.M)
    check("each gets the shape it asked for",
          ["noexec" in f.split(",") for f in flags] == [False, True] * 3, flags)
    holds = re.findall(r"^launch-holds (.*)$", t, re.M)
    check("two sandboxes wait, one of each shape, and never more",
          len(holds) == 6 and len(set(holds[1:])) == 1, holds)
    pids = re.findall(r"^program pid (\d+)", t, re.M)
    check("no sandbox serves twice", len(set(pids)) == 6, pids)


def test_many():
    r = drive("-n", "50", "-C", "3")
    t = r.stdout
    check("150 runs, three at a time, go through",
          r.returncode == 0 and t.count("ended kind=1 value=0") == 150)
    holds = re.findall(r"^launch-holds (.*)$", t, re.M)
    check("descriptors and mounts of the launcher stay flat",
          len(holds) == 50 and len(set(holds)) == 1, set(holds))
    rss = [int(n) for n in re.findall(r"^launch-VmRSS:\s+(\d+)", t, re.M)]
    check("the launcher's memory stays flat, at most 2 MiB",
          rss != [] and max(rss) <= 2048 and rss[-1] - rss[9] <= 64,
          rss and (rss[0], rss[9], rss[-1]))
    check("no group is left", left() == [], left())


# ----------------------------------------------------------------- helpers

def test_helpers():
    for kind, uid, caps in (("1", 1900000003, (1 << 6) | (1 << 7)),
                            ("2", 1900000002, 1 << 2)):
        t = drive("-h", kind).stdout
        what = "opener" if kind == "1" else "collect"
        check(f"{what} runs under its own uid",
              value(t, "helper status Uid:").split() == [str(uid)] * 4, t)
        prm = int(value(t, "helper status CapPrm:") or "ffff", 16)
        check(f"{what} holds no capability beyond its own",
              prm & ~caps == 0, hex(prm))
        check(f"{what} has no new privileges",
              value(t, "helper status NoNewPrivs:") == "1")
        check(f"{what} has no group", value(t, "helper status Groups:") == "")
        check(f"{what} has its channel and standard streams only",
              value(t, "program fds") == "0 1 2 3", value(t, "program fds"))
    t = drive("-h", "9").stdout
    check("an unknown helper is refused", "failed step=helper" in t or
          "helper-gone" in t, t)


def test_start():
    def start(*args, **kw):
        return subprocess.run([LAUNCH, *args], text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=20, **kw)

    r = start("x", env={})
    check("arguments are refused", r.returncode == 1 and r.stderr.count("\n")
          == 1, r.stderr)
    r = start(env={"A": "b"})
    check("an environment is refused", r.returncode == 1)
    r = start(env={})
    check("no channel is refused", r.returncode == 1 and "descriptor 3" in
          r.stderr, r.stderr)


def main():
    if os.geteuid() != 0:
        print("SKIP escape/launch: needs root")
        sys.exit(77)
    for test in (test_start, test_posture, test_mounts, test_noexec, test_escapes,
                 test_network, test_streams, test_memory, test_pids,
                 test_files, test_time, test_failures, test_gate, test_deaths,
                 test_launcher_itself, test_hosts, test_entries,
                 test_shapes, test_many,
                 test_helpers):
        test()
    print(f"{len(failures)} failed" if failures else "all passed")
    sys.exit(1 if failures else 0)


main()
