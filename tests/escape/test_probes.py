#!/usr/bin/python3
"""Hostile programs, run by the real command: the filter, the view, the limits.

    test_probes.py BUILD_DIR SOURCE_DIR [part of a name]

Each case is named after its row in the catalogue of escapes.  It asserts three
things: what the program was told, that nothing happened outside, and what the
log says of this very run.  Calls get bad pointers and descriptors, so that a
kernel that was reached answers EFAULT or EBADF, and nothing happens then
either.
"""
import array
import fcntl
import json
import os
import re
import subprocess
import sys
import time

from probe import PRELUDE, STRICT, ask, both, excuse, lines  # noqa: E402

from lib import (SOURCE, Place, Skip, case, check, equal,  # noqa: E402
                 main, need_programs, need_root, recorded, recorded_end, wait_for)

MIB = 1 << 20
NS_GET_OWNER_UID = 0xB704  # ioctl_ns(2)


def table(name):
    """Names in one list of policy/syscalls.c."""
    with open(os.path.join(SOURCE, "policy", "syscalls.c")) as f:
        text = f.read()
    found = re.search(r"const %s\[\] = \{(.*?)NULL" % name, text, re.S)
    return set(re.findall(r'"(\w+)"', found.group(1)))


def numbers():
    for path in ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
                 "/usr/include/asm/unistd_64.h"):
        if os.path.exists(path):
            with open(path) as f:
                return {int(n): name for name, n in
                        re.findall(r"#define __NR_(\w+) (\d+)", f.read())}
    raise Skip("no list of system calls on this host")


# Calls that end, block or split a probe; 335 and 336 are uprobes' own, which
# no filter sees (Linux 6.14 on).
UNSAFE = {"rt_sigreturn", "pause", "clone3", "fork", "vfork", "exit",
          "exit_group"}
# Reached, and answering like a filter all the same.
AMBIGUOUS = {"futex", "setsid"}
SWEEP = '''
for number in range(512):
    if number not in %r:
        print(number, call(number, -1, -1, -1, -1, -1, -1))
for number in (512, 1000, 0x3fffffff):
    print(number, call(number, -1, -1, -1, -1, -1, -1))
'''


@case("SC-05 what reaches the kernel is what the tables say, 0 to 511")
def _():
    p = Place()
    names = numbers()
    unsafe = {n for n, name in names.items() if name in UNSAFE} | {335, 336}
    plain = ("files", "waiting", "memory", "time_and_signals", "process",
             "socket_io")
    more = {"default": ("sockets", "subprocess", "exec_memory"), "strict": ()}
    never = table("never")
    for preset, policy in both(p):
        may = set().union(*map(table, plain + more[preset])) | {"personality"}
        got = {int(n): a for n, a in
               lines(ask(p, SWEEP % unsafe, policy=policy)).items()}
        reached = {names.get(n, n) for n, answer in got.items()
                   if answer not in ("EPERM", "ENOSYS")}
        equal(reached - may, set(), "reached the kernel under " + preset)
        equal({n for n in may & {names[n] for n in got if n in names}
               if n not in reached | AMBIGUOUS}, set(), "refused though listed")
        equal({n: a for n, a in got.items() if names.get(n) in never
               and a != "EPERM"}, {}, "dangerous but not EPERM")
        equal({got[n] for n in (512, 1000, 0x3FFFFFFF)}, {"ENOSYS"}, "unknown")


@case("SC-01 an x32 number kills, and the log names the filter")
def _():
    p = Place()
    for _, policy in both(p):
        r = ask(p, "call(0x40000000 | 39); print('alive')", policy=policy,
                status="killed", killer="syscall")
        equal(r["stdout"], "", "it went on")


@case("SC-02 int 0x80 never gives a result")
def _():
    p = Place()
    # mov $20,%eax; int $0x80; ret: getpid of the 32-bit table
    r = ask(p, '''
import mmap
m = mmap.mmap(-1, 4096, prot=7)
m.write(b"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3")
child = os.fork()
if child == 0:
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    ctypes.CFUNCTYPE(ctypes.c_int)(at)()
    os._exit(0)
print("end", os.waitpid(child, 0)[1] & 127)
''')
    check(lines(r)["end"] in ("31", "11"), r["stdout"])
    if lines(r)["end"] == "11":
        excuse("SC-02")


EXEC = '''
argv = (ctypes.c_char_p * 2)(b"id", None)
for path in (b"/usr/bin/id", b"/proc/self/exe", b"/lib64/ld-linux-x86-64.so.2",
             b"", b"/proc/self/fd/0", b"id"):
    for fd in (4095, 0, -100):
        print(path.decode(), fd, call(%d, fd, path, argv, None, 0x1000))
print("execve", call(%d, b"/usr/bin/id", argv, None))
'''


@case("SC-40 without 'subprocess' nothing is executed a second time")
def _():
    p = Place()
    by_name = {name: n for n, name in numbers().items()}
    r = ask(p, EXEC % (by_name["execveat"], by_name["execve"]), policy=STRICT)
    check("uid=" not in r["stdout"] and set(lines(r).values()) <=
          {"EPERM", "ENOSYS"}, r["stdout"])


@case("SC-41 a run cannot watch what the host and other runs execute")
def _():
    p = Place()
    for _, policy in both(p):
        r = ask(p, '''
fd = libc.inotify_init1(0)
print("init", "ok" if fd >= 0 else errno.errorcode[ctypes.get_errno()])
print("watch", "ok" if libc.inotify_add_watch(fd, b"/usr/bin", 0x21) >= 0
      else errno.errorcode[ctypes.get_errno()])
''', policy=policy)
        equal(lines(r), {"init": "ENOSYS", "watch": "ENOSYS"}, "inotify")


@case("SC-06 SC-07 FD-14 FS-13 ioctl: asking only, high garbage or not")
def _():
    p = Place()
    r = ask(p, '''
b = ctypes.create_string_buffer(256)
for base in (0, 1 << 32):
    for request in (0x5412, 0x541c, 0x540e, 0x5423, 0x40086602, 0x80086601,
                    0x40049409, 0x8912, 0x8901, 0xb702, 0xb701, 0xff0b,
                    0xc0502100):
        print(hex(base | request), call(16, 1, base | request, b))
ns = os.open("/proc/self/ns/user", os.O_RDONLY)
print("parent", call(16, ns, 0xb702))
print("setns", call(308, ns, 0))
''', policy=STRICT)
    equal(set(lines(r).values()), {"EPERM"}, "an ioctl")


@case("NS-01 NS-02 NS-03 NS-09 NS-20 NS-22 SC-21 no namespace, no personality, no prctl")
def _():
    p = Place()
    r = ask(p, '''
for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000,
             0x20000000, 0x40000000):
    print("unshare", hex(flag), call(272, flag))
    if flag != 0x80:
        print("clone", hex(flag), call(56, flag | 17 | 1 << 40, 0, 0, 0, 0))
for who in (0x40000, 0x400000, 8, 0):
    print("personality", hex(who), call(135, who))
for option in (4, 8, 22, 24, 26, 28, 33, 35, 47, 52, 53, 59, 62):
    print("prctl", option, call(157, option, 1, 0, 0, 0))
''')
    equal(set(lines(r).values()), {"EPERM"}, "a call")
    equal(ask(p, 'print("x", call(435, 0, 0))')["stdout"], "x ENOSYS\n", "3")


SOCKETS = '''
got = set()
for family in range(46):
    for kind in (1, 2, 3, 4, 5, 6, 10):
        for protocol in (0, 1, 6, 17, 132, 136, 255, 262):
            answer = call(41, family, kind, protocol)
            if answer == "ok":
                os.close(3)
                got.add((family, kind, protocol))
            elif answer != "EPERM" and family != 1:
                got.add((family, kind, protocol, answer))
print(sorted(got))
'''


@case("NW-01 NW-07 NW-08 NW-09 NW-10 NW-12 exactly these sockets")
def _():
    p = Place()
    inet = {(f, k, n) for f in (2, 10) for k, ns in ((1, (0, 6)), (2, (0, 17)))
            for n in ns}
    unix = {(1, k, n) for k in (1, 2, 5) for n in (0, 1)}
    got = eval(ask(p, SOCKETS)["stdout"], {})
    equal(set(got), inet | unix, "sockets by default")
    equal(ask(p, SOCKETS, policy=STRICT)["stdout"], "[]\n", "strict")


@case("SC-20 FD-20 without 'exec_memory' none is made, mapped or received")
def _():
    p = Place()
    r = ask(p, '''
for prot in (4, 5, 6, 7):
    print("anonymous", prot, call(9, 0, 4096, prot, 0x22, -1, 0))
at = ctypes.addressof(ctypes.create_string_buffer(8192)) & ~4095
print("mprotect", call(10, at, 4096, 7))
print("pkey", call(329, at, 4096, 5, -1))
print("memfd", call(319, b"x", 0))
fd = os.open("/sandbox/x", os.O_RDWR | os.O_CREAT, 0o755)
os.write(fd, bytes(4096))
print("shared", call(9, 0, 4096, 5, 1, fd, 0))
print("writable", call(9, 0, 4096, 7, 2, fd, 0))
print("own file", call(9, 0, 4096, 5, 2, fd, 0))
print("mem", {"EACCES": "EPERM"}.get(attempt(os.open, "/proc/self/mem", 2), 0))
''', policy=STRICT)
    equal(set(lines(r).values()), {"EPERM"}, "executable memory")


@case("PR-02 PR-03 PR-04 PR-05 PR-09 PR-10 PR-11 PR-12 MT-05 of /proc a run has itself, to read")
def _():
    p = Place()
    r = ask(p, '''
for name in ("mem", "environ", "cmdline", "maps", "fd", "root", "exe", "status"):
    print("1/" + name, attempt(os.open, "/proc/1/" + name, 0))
for name in ("sys/kernel/core_pattern", "sysrq-trigger", "kcore", "kallsyms",
             "keys", "net", "kmsg", "sys/user", "meminfo"):
    print(name, attempt(os.open, "/proc/" + name, 0))
for name in ("mem", "oom_score_adj", "uid_map", "setgroups", "comm",
             "coredump_filter", "timerslack_ns", "attr/current", "clear_refs"):
    print("write " + name, attempt(os.open, "/proc/self/" + name, 1))
print("pids", len([n for n in os.listdir("/proc") if n.isdigit()]))
print("above", os.stat("/").st_ino == os.stat("/..").st_ino)
''')
    got = lines(r)
    equal((got.pop("pids"), got.pop("above")), ("1", "True"), "the view")
    equal({a for n, a in got.items() if not n.startswith("write")}, {"ENOENT"},
          "read")
    equal({a for n, a in got.items() if n.startswith("write")}, {"EACCES"},
          "written")


@case("MT-18 a denied module is absent from every place")
def absent():
    p = Place(languages={"python": {"modules": {"deny": ["queue"]}}})
    r = ask(p, r'''
import importlib.util
print("queue", importlib.util.find_spec("queue"))
print("half", importlib.util.find_spec("_queue"))
''')
    equal(lines(r), {"queue": "None", "half": "None"}, "answers")


@case("MT-01 MT-02 MT-03 MT-04 MT-08 DV-01 SC-34 FS-05 the view cannot be changed")
def _():
    p = Place()
    before = os.stat("/usr/bin/env")
    r = ask(p, '''
b = ctypes.create_string_buffer(64)
print("mount", call(165, b"none", b"/tmp", b"tmpfs", 0, None))
print("remount", call(165, None, b"/usr", None, 0x1020, None))
print("umount", call(166, b"/proc", 2))
for number in (155, 161, 303, 304, 428, 429, 430, 431, 432, 433, 442):
    print(number, call(number, -1, b, b, b, -1))
print("chmod", attempt(os.chmod, "/usr/bin/env", 0o777))
print("utime", attempt(os.utime, "/usr/bin/env"))
print("unlink", attempt(os.unlink, "/usr/bin/env"))
print("open", attempt(os.open, "/usr/bin/env", os.O_WRONLY))
print("make", attempt(os.open, "/usr/new", os.O_WRONLY | os.O_CREAT))
print("make /", attempt(os.open, "/new", os.O_WRONLY | os.O_CREAT))
print("make /dev", attempt(os.mkfifo, "/dev/new"))
print("link", attempt(os.link, "/usr/bin/env", "/sandbox/env"))
for mode in (0o20666, 0o60666, 0o140666):
    for device in (0, 0x103):
        print("mknod", oct(mode), device, call(133, b"/tmp/n", mode, device))
print("chown", attempt(os.chown, "/sandbox/main.py", 1000, 1000))
print("sentinel", attempt(os.open, "/.sentinel", 0))
''')
    bad = {n: a for n, a in lines(r).items()
           if a not in ("EPERM", "EROFS", "EACCES", "EXDEV")}
    # Of what it owns already, to itself.
    equal(bad, {"chown": "ok"} if p.own else {}, "a change")
    after = os.stat("/usr/bin/env")
    equal((before.st_mode, before.st_mtime_ns, before.st_ino),
          (after.st_mode, after.st_mtime_ns, after.st_ino), "the host's file")


@case("SC-12 FD-07 FD-08 no keys, no SysV, no message queues")
def _():
    p = Place()
    r = ask(p, '''
b = ctypes.create_string_buffer(64)
print("keyctl", call(250, 0, -3, 1))
print("add_key", call(248, b"user", b"x", b"y", 1, -3))
print("request_key", call(249, b"user", b"x", None, -3))
print("shm", call(29, 42, 4096, 0o1666))
print("sem", call(64, 42, 1, 0o1666))
print("msg", call(68, 42, 0o1666))
print("mq", call(240, b"x", 66, 0o600, 0))
''')
    equal(set(lines(r).values()), {"EPERM"}, "ipc")
    with open("/proc/sysvipc/shm") as f:
        check(not re.search(r"^ +42 ", f.read(), re.M), "on the host")


@case("LC-06 FD-03 SC-09 SC-10 SC-11 SC-29 pid 1 is out of reach")
def _():
    p = Place()
    r = ask(p, '''
b = ctypes.create_string_buffer(64)
for number in (0, 9, 19, 15, 10):
    print("kill", number, call(62, 1, number))
fd = libc.syscall(434, 1, 0)
print("pidfd", call(424, fd, 9, None, 0))
print("getfd", call(438, fd, 0, 0))
print("ptrace", call(101, 16, 1, 0, 0))
print("readv", call(310, 1, b, 1, b, 1, 0))
print("kcmp", call(312, 1, os.getpid(), 0, 0, 0))
print("prlimit", call(302, 1, 7, None, b))
print("raise", call(302, 0, 7, (ctypes.c_ulong * 2)(5000, 5000), None))
''')
    equal(set(lines(r).values()), {"EPERM"}, "pid 1")


@case("FD-01 FD-02 EN-01 MT-07 the caller's descriptors and secrets stay with it")
def _():
    p = Place()
    secret = "canary-" + os.urandom(8).hex()
    fds = [os.open("/etc/shadow", os.O_RDONLY) for _ in range(20)]
    high = fcntl.fcntl(fds[0], fcntl.F_DUPFD, 1000)
    for fd in fds + [high]:
        os.set_inheritable(fd, True)
    code = '''
print(sorted(map(int, os.listdir("/proc/self/fd"))))
for root, dirs, files in os.walk("/proc/self"):
    for name in files:
        path = os.path.join(root, name)
        try:
            if name not in ("mem", "pagemap") and %r[::-1] in open(
                    path, "rb").read(1 << 16):
                print("leak", path)
        except OSError:
            pass
''' % secret[::-1].encode()
    try:
        # No fork of ours but posix_spawn, which ignores two signals of libc.
        done = subprocess.run(
            p.words("run", "--json", "--lang", "python", "-c", PRELUDE + code),
            env=dict(os.environ, SECRET=secret), close_fds=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    finally:
        for fd in fds + [high]:
            os.close(fd)
    r = json.loads(done.stdout)
    equal((done.returncode, r["stdout"], r["stderr"], done.stderr),
          (0, "[0, 1, 2, 3]\n", "", b""), "what is inside")
    recorded(p, r)


@case("RS-08 RS-24 NS-11 what a run uses up is charged to itself, not to root")
def _():
    p = Place()
    mark = "%d.%d" % (os.getpid(), time.monotonic_ns() % 10 ** 9)
    run = p.start("--lang", "bash", "-c", "exec sleep 7" + mark)

    def inside():
        for pid in os.listdir("/proc"):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    if f.read() == b"sleep\x007%s\x00" % mark.encode():
                        return pid
            except OSError:
                pass
        return None

    try:
        pid = wait_for(inside, "the program")
        owner = array.array("I", [0])
        with open("/proc/%s/ns/user" % pid, "rb") as f:
            fcntl.ioctl(f, NS_GET_OWNER_UID, owner)
        uid = os.stat("/proc/" + pid).st_uid
        equal(owner[0], uid if p.own else uid - 1,
              "owner of the user namespace")
        with open("/proc/%s/oom_score_adj" % pid) as f:
            equal(f.read(), "1000\n", "RS-08 oom_score_adj")
    finally:
        run.kill()
        run.communicate()
    recorded_end(p, "cancelled")


MEMORY = {
    "heap": "keep = [bytearray(1 << 20) for _ in range(500)]",
    "memfd": "f = os.memfd_create('x')\nfor _ in range(500): "
             "os.write(f, bytes(1 << 20))",
    "shm": "f = open('/dev/shm/x', 'wb')\nfor _ in range(200): "
           "f.write(bytes(1 << 20))",
    "pipes": '''
import fcntl
keep = []
for _ in range(120):
    r, w = os.pipe()
    keep += [r, w]
    os.set_blocking(w, False)
    fcntl.fcntl(w, 1031, 1 << 20)
    os.write(w, bytes(1 << 20))
''',
    "unix sockets": '''
import socket
keep = []
for _ in range(120):
    a, b = socket.socketpair()
    keep += [a, b]
    a.setsockopt(1, 7, 1 << 22)
    a.setblocking(False)
    try:
        while True:
            a.send(bytes(65536))
    except BlockingIOError:
        pass
''',
}


@case("RS-05 memory is charged however it is had, and the run ends for it")
def _():
    p = Place()
    for code in MEMORY.values():
        r = ask(p, code, "--memory", "48", status="memory", killer="memory")
        check(r["use"]["memory_peak"] <= 48 * MIB, r["use"])


@case("RS-05 buffers of loopback sockets are bounded by the memory limit")
def _():
    p = Place()
    r = ask(p, '''
import socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(200)
keep = []
held = 0
for _ in range(100):
    a = socket.socket()
    a.connect(server.getsockname())
    b = server.accept()[0]
    a.setblocking(False)
    keep += [a, b]
    try:
        while True:
            held += a.send(bytes(65536))
    except BlockingIOError:
        pass
print("held", held)
''', "--memory", "64")
    check(int(lines(r)["held"]) < 64 * MIB, r["stdout"])


@case("RS-01 RS-03 FS-08 FS-10 FD-11 processes, inodes, sizes, descriptors end")
def _():
    p = Place()
    r = ask(p, '''
def until(f):
    n = 0
    try:
        while n < 100000:
            f(n)
            n += 1
    except OSError as e:
        return errno.errorcode[e.errno]
print("inodes", until(lambda n: open("/tmp/%d" % n, "w").close()))
print("fds", until(lambda n: os.dup(1)))
os.closerange(3, 4096)
def zombie(n):
    if os.fork() == 0:
        os._exit(0)
print("zombies", until(zombie))
''')
    equal(lines(r), {"inodes": "ENOSPC", "fds": "EMFILE", "zombies": "EAGAIN"},
          "bounds")
    r = ask(p, '''
f = os.open("/tmp/s", os.O_RDWR | os.O_CREAT)
print("sparse", attempt(os.ftruncate, f, 1 << 40))
''')
    equal(lines(r), {"sparse": "EFBIG"}, "size")


@case("RS-02 RS-03 exactly as many processes and threads as the limit says")
def _():
    p = Place(limits={"pids": {"default": 16, "max": 16}})
    r = ask(p, '''
import threading
pipe = os.pipe()
def until(f):
    n = 0
    try:
        while n < 100:
            f()
            n += 1
    except (OSError, RuntimeError):
        pass
    return n
def process():
    if os.fork() == 0:
        os.read(pipe[0], 1)
        os._exit(0)
def thread():
    threading.Thread(target=os.read, args=(pipe[0], 1), daemon=True).start()
if os.fork() == 0:
    print("threads", until(thread), flush=True)
    os._exit(0)
os.wait()
print("processes", until(process), flush=True)
os._exit(0)
''')
    equal(lines(r), {"threads": "14", "processes": "15"}, "bounds")
    equal(r["use"].get("pids_peak"), None if p.own else 17,
          "the kernel's count, pid 1 included")


@case("SC-18 SC-19 strict: nothing in the scratch becomes code")
def _():
    r = ask(Place(), '''
for place in ("/sandbox", "/tmp", "/dev/shm"):
    fd = os.open(place + "/x", os.O_RDWR | os.O_CREAT, 0o755)
    os.write(fd, bytes(4096))
    print("map", place, call(9, 0, 4096, 5, 2, fd, 0))
print("loader", call(59, b"/lib64/ld-linux-x86-64.so.2", None, None))
''', policy=STRICT)
    equal(set(lines(r).values()), {"EPERM"}, "code")


@case("RS-13 LC-03 stopped, deaf or forking: the wall limit ends it")
def _():
    p = Place()
    for code in ('''
os.kill(os.getpid(), 19)
''', '''
import signal, time
for s in range(1, 65):
    try:
        signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
time.sleep(60)
''', '''
while True:
    try:
        if os.fork() == 0:
            os.fork()
            os._exit(0)
        os.waitpid(-1, 0)
    except OSError:
        pass
'''):
        r = ask(p, code, "--timeout", "1", status="timeout", killer="wall")
        check(r["timing"]["run"] < 10 * 10 ** 6, r["timing"])


@case("LC-01 LC-02 daemons are dead before the answer comes")
def _():
    p = Place()
    mark = "%d.%d" % (os.getpid(), time.monotonic_ns() % 10 ** 9)
    r = ask(p, "#!\nsetsid sleep 9%s & (setsid setsid sleep 9%s &) ; echo up"
            % (mark, mark))
    equal(r["stdout"], "up\n", "output")
    done = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE,
                          check=True)
    check(mark.encode() not in done.stdout, "a daemon lives")


@case("RS-14 RS-15 a flood on both streams ends the run, heads are kept")
def _():
    p = Place(limits={"output": {"default": 4 * MIB, "max": 4 * MIB}})
    r = ask(p, "#!\nyes & yes >&2 & wait", status="killed", killer="output")
    check(r["stdout_total"] + r["stderr_total"] >= 4 * MIB and
          r["stdout"].startswith("y\ny\n"), r["stdout_total"])


@case("FD-05 FD-06 the streams open anew, one way only")
def _():
    p = Place()
    r = ask(p, "#!\necho one > /dev/stdout; echo two | tee /dev/stderr")
    equal((r["stdout"], r["stderr"]), ("one\ntwo\n", "two\n"), "streams")
    r = ask(p, '''
for fd in (1, 2):
    for mode in (0, 2):
        print("open", fd, mode, attempt(os.open, "/proc/self/fd/%d" % fd, mode))
    print("chmod", fd, {"EPERM": "EACCES"}.get(attempt(os.fchmod, fd, 0o666)))
print("stdin", {"EPERM": "EACCES"}.get(
    attempt(os.write, os.open("/proc/self/fd/0", 1), b"x")))
''')
    answers = lines(r)
    if p.own:  # its own pipes: it may read back what it wrote
        equal((answers.pop("chmod 1"), answers.pop("chmod 2")),
              ("None", "None"), "modes of its own")
    equal(set(answers.values()), {"EACCES"}, "the other way")


@case("RS-18 closing the streams is not the end, and forges nothing")
def _():
    p = Place()
    r = ask(p, "#!\nexec 0<&- 1>&- 2>&-; sleep 0.3; exit 7", status="error")
    equal((r["exit_code"], r["stdout"]), (7, ""), "end")
    check(r["timing"]["run"] >= 300000, r["timing"])


@case("SB-09 SB-10 FD-09 NW-01 NW-02 NW-03 NW-04 NW-22 two runs at once do not meet")
def _():
    p = Place()
    first = p.start("--lang", "python", "-c", PRELUDE + '''
import socket, time
a = socket.socket(socket.AF_UNIX)
a.bind("\\0bailiff-probe")
a.listen(1)
b = socket.socket()
b.bind(("127.0.0.1", 4545))
b.listen(1)
for place in ("/dev/shm", "/tmp", "/sandbox"):
    open(place + "/canary", "w").write("x")
print("up", flush=True)
time.sleep(30)
''')
    try:
        equal(first.stdout.readline(), b"up\n", "the first")
        r = ask(p, '''
import socket
print("abstract", attempt(socket.socket(1).connect, "\\0bailiff-probe"))
print("tcp", attempt(socket.socket().connect, ("127.0.0.1", 4545)))
print("host", attempt(socket.socket().connect, ("127.0.0.1", 22)))
print("service", attempt(socket.socket(1).connect, "/run/bailiff/bailiff.sock"))
print("far", attempt(socket.socket().connect, ("192.0.2.1", 53)))
print("left", os.listdir("/dev/shm") + os.listdir("/tmp") == [])
print("seen", len([n for n in os.listdir("/proc") if n.isdigit()]))
print("all", attempt(os.kill, -1, 0))
''')
        equal(lines(r), {"abstract": "ECONNREFUSED", "tcp": "ECONNREFUSED",
                         "host": "ECONNREFUSED", "service": "ENOENT",
                         "far": "ENETUNREACH", "left": "True", "seen": "1",
                         "all": "ESRCH"}, "the second")
        equal(first.poll(), None, "the first was ended")
    finally:
        first.kill()
        first.communicate()


@case("FD-18 SC-30 SC-42 no owner of signals, no host cache dropped")
def _():
    p = Place()
    r = ask(p, '''
f = os.open("/usr/bin/env", 0)
for command in (8, 10, 1024, 1026):
    print("fcntl", command, call(72, f, command, 1))
print("fadvise", call(221, f, 0, 0, 4))
print("sync", call(162))
print("syncfs", call(306, f))
print("secret", call(447, 0))
''')
    equal(set(lines(r).values()), {"EPERM"}, "a call")
    equal(lines(ask(p, 'print("x", call(221, 0, 0, 0, 0))')), {"x": "ok"},
          "advice that harms nobody")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch")
    if os.uname().machine != "x86_64":
        print("skipped: system calls have the numbers of x86_64 here")
        sys.exit(77)
    main()
