#!/usr/bin/python3
"""Hostile programs against what they can see and call: view, proc, devices,
namespaces, credentials, system calls.

    test_surface.py BUILD_DIR SOURCE_DIR [part of a name]
"""
import os
import re
import struct
import sys
import time

from probe import STRICT, ask, both, excuse, lines  # noqa: E402

from lib import (Place, case, check, equal, main,  # noqa: E402
                 need_programs, need_root, wait_for)


@case("MT-05 MT-09 PR-14 mountinfo and cgroup name no place of the host")
def _():
    p = Place()
    for _, policy in both(p):
        r = ask(p, '''
print("listmount", call(458, 0, 0, 0, 0))
print("statmount", call(457, 0, 0, 0, 0))
print("groups", set(l.split(":", 2)[2] for l in open("/proc/self/cgroup")))
print("---")
print(open("/proc/self/mountinfo").read())
''', policy=policy)
        answers, mounts = r["stdout"].split("---\n")
        equal(answers.splitlines(), ["listmount ENOSYS", "statmount ENOSYS",
                                     "groups {'/\\n'}"], "answers")
        check(p.dir not in mounts and "bailiff" not in mounts, mounts)
        seen = {line.split()[3]: line.split()[4] for line in
                mounts.strip().splitlines()}
        for name in ("null", "zero", "full", "random", "urandom"):
            # Without root no device can be made: each is the host's.
            if p.own:
                equal(seen.pop("/" + name), "/dev/" + name, "a device")
        check(set(seen.values()) <= {"/", "/dev", "/dev/shm", "/usr", "/tmp",
                                     "/sandbox", "/proc"}, mounts)
        equal({root for root in seen if root not in
               ("/", "/usr", "/shm", "/tmp", "/sandbox")}, set(), "roots")


@case("PR-02 PR-03 PR-04 PR-15 SY-01 SY-03 nothing of the kernel is there")
def _():
    r = ask(Place(), '''
for name in ("sys", "sys/kernel/core_pattern", "sysrq-trigger", "acpi", "irq",
             "bus", "scsi", "fs", "kcore", "kallsyms", "kmsg", "keys",
             "key-users", "timer_list", "sched_debug", "latency_stats",
             "slabinfo", "vmallocinfo", "interrupts", "net", "stat", "loadavg",
             "uptime", "cpuinfo", "modules", "mounts", "partitions", "version",
             "cmdline", "config.gz", "iomem", "driver", "asound"):
    if name != "mounts":
        print(name, attempt(os.stat, "/proc/" + name))
for name in ("/sys", "/sys/firmware", "/sys/fs/bpf", "/sys/fs/cgroup",
             "/sys/kernel/uevent_helper", "/sys/power", "/sys/class/powercap",
             "/boot", "/var", "/run", "/root", "/home", "/mnt", "/srv", "/media",
             "/etc/shadow", "/etc/resolv.conf", "/etc/machine-id",
             "/etc/localtime", "/etc/ssl"):
    print(name, attempt(os.stat, name))
''')
    equal({n: a for n, a in lines(r).items() if a != "ENOENT"}, {}, "there")


@case("PR-06 PR-08 LC-15 pid 1 has no environment, the streams no path")
def _():
    p = Place()
    mark = "%d.%d" % (os.getpid(), time.monotonic_ns() % 10 ** 9)
    run = p.start("--lang", "bash", "-c",
                  "exec sleep 6" + mark, env=dict(os.environ, CANARY=mark))

    def inside():
        for pid in os.listdir("/proc"):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    if f.read() == b"sleep\x006%s\x00" % mark.encode():
                        return pid
            except OSError:
                pass
        return None

    try:
        pid = wait_for(inside, "the program")
        with open("/proc/%s/status" % pid) as f:
            init = re.search(r"^PPid:\s+(\d+)", f.read(), re.M).group(1)
        with open("/proc/%s/environ" % init, "rb") as f:
            equal(f.read(), b"", "environment of pid 1")
        with open("/proc/%s/environ" % pid, "rb") as f:
            check(mark.encode() not in f.read(), "the caller's environment")
        with open("/proc/%s/status" % init) as f:
            text = f.read()
        for field, want in (("Seccomp", "2"), ("NoNewPrivs", "1"),
                            ("CapPrm", "0" * 16), ("CapBnd", "0" * 16)):
            equal(re.search(r"^%s:\s+(\w+)" % field, text, re.M).group(1), want,
                  "pid 1's " + field)
    finally:
        run.kill()
        run.communicate()
    r = ask(p, '''
for name in ("0", "1", "2"):
    print(name, os.readlink("/proc/self/fd/" + name).split(":")[0])
for fd in range(3, 4096):
    try:
        os.write(fd, b"{}")
        print("wrote", fd)
    except OSError:
        pass
''')
    check(lines(r)["1"] == lines(r)["2"] == "pipe" and
          lines(r)["0"] in ("pipe", "/memfd", "/dev/null") and
          "wrote" not in r["stdout"], r["stdout"])


@case("DV-02 DV-03 DV-04 DV-05 exactly five devices, and they do no harm")
def _():
    r = ask(Place(), '''
import stat, time
for name in sorted(os.listdir("/dev")):
    s = os.lstat("/dev/" + name)
    print(name, "%d:%d" % (os.major(s.st_rdev), os.minor(s.st_rdev))
          if stat.S_ISCHR(s.st_mode) else oct(stat.S_IFMT(s.st_mode)))
print("write-full", attempt(os.write, os.open("/dev/full", 1), b"x"))
zero = os.open("/dev/zero", 0)
n = 0
while n < 64 << 20:
    n += len(os.read(zero, 1 << 20))
print("zero", n)
print("random", len(os.read(os.open("/dev/random", 0), 64)))
print("null", os.write(os.open("/dev/null", 1), bytes(1 << 20)))
for name in ("mem", "kmsg", "port", "tty", "console", "ptmx", "pts", "mqueue",
             "fuse", "kvm", "net/tun", "userfaultfd", "hugepages", "loop0"):
    print("no-" + name, attempt(os.stat, "/dev/" + name))
''')
    got = lines(r)
    equal({a for n, a in got.items() if n.startswith("no-")}, {"ENOENT"},
          "other devices")
    equal({n: a for n, a in got.items() if not n.startswith("no-")},
          {"null": str(1 << 20), "zero": str(64 << 20), "full": "1:7",
           "random": "64", "urandom": "1:9", "shm": "0o40000",
           "fd": "0o120000", "stdin": "0o120000", "stdout": "0o120000",
           "stderr": "0o120000", "write-full": "ENOSPC"}, "devices")
    r = ask(Place(), '''
for name in ("null", "zero", "full", "random", "urandom"):
    print(name, os.minor(os.stat("/dev/" + name).st_rdev))
''')
    equal(lines(r), {"null": "3", "zero": "5", "full": "7", "random": "8",
                     "urandom": "9"}, "numbers")


@case("NS-08 NS-14 NS-10 SC-37 every process and thread has nothing, for good")
def _():
    r = ask(Place(), '''
import threading
want = {"CapInh": "0" * 16, "CapPrm": "0" * 16, "CapEff": "0" * 16,
        "CapBnd": "0" * 16, "CapAmb": "0" * 16, "NoNewPrivs": "1",
        "Seccomp": "2", "Groups": ""}
def see(where):
    for tid in os.listdir("/proc/self/task"):
        status = dict(l.rstrip("\\n").split(":", 1) for l in
                      open("/proc/self/task/%s/status" % tid))
        bad = {k: status[k] for k, v in want.items() if status[k].strip() != v}
        ids = set((status["Uid"] + status["Gid"]).split())
        print(where, bad or (ids == {"1000"} and "nothing"))
gate = threading.Event()
threads = [threading.Thread(target=gate.wait) for _ in range(3)]
for t in threads:
    t.start()
see("thread")
gate.set()
for t in threads:
    t.join()
if os.fork() == 0:
    see("child")
    sys.stdout.flush()
    os._exit(0)
os.wait()
for name, number, args in (("setuid", 105, (0,)), ("setgid", 106, (0,)),
                           ("setreuid", 113, (0, 0)), ("setregid", 114, (0, 0)),
                           ("setgroups", 116, (0, 0)),
                           ("setresuid", 117, (0, 0, 0)),
                           ("setresgid", 119, (0, 0, 0)),
                           ("setfsuid", 122, (0,)), ("setfsgid", 123, (0,)),
                           ("capset", 126, (0, 0))):
    print(name, call(number, *args))
print("groups", os.getgroups() or "none")
''')
    got = r["stdout"].splitlines()
    equal([line for line in got if line.startswith(("thread", "child"))],
          ["thread nothing"] * 4 + ["child nothing"], "status")
    rest = lines({"stdout": "\n".join(got[5:])})
    equal(rest.pop("groups"), "none", "groups")
    equal(set(rest.values()), {"EPERM"}, "a change of ids")


@case("NS-04 SC-36 threads, fork, vfork, posix_spawn and clone work")
def _():
    r = ask(Place(), '''
import subprocess, threading, multiprocessing
t = threading.Thread(target=print, args=("thread ok",))
t.start(); t.join()
print("spawn", subprocess.run(["/bin/true"]).returncode)
print("spawn2", os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1])
print("shell", subprocess.check_output(["bash", "-c", "echo $((6*7))"]).decode()
      .strip())
if os.fork() == 0:
    os._exit(0)
print("fork", os.wait()[1])
with multiprocessing.Pool(2) as pool:
    print("pool", sum(pool.map(abs, [-1, -2])))
''')
    equal(lines(r), {"thread": "ok", "spawn": "0", "spawn2": "0", "shell": "42",
                     "fork": "0", "pool": "3"}, "use")


@case("NS-15 NS-16 NS-17 NS-19 no names, no clocks, no terminal")
def _():
    r = ask(Place(), '''
import struct
aux = open("/proc/self/auxv", "rb").read()
print("secure", dict(struct.iter_unpack("QQ", aux))[23])
b = ctypes.create_string_buffer(b"x" * 64)
before = os.uname()
for name, number, args in (
        ("sethostname", 170, (b, 1)), ("setdomainname", 171, (b, 1)),
        ("clock_settime", 227, (0, b)), ("settimeofday", 164, (b, 0)),
        ("adjtimex", 159, (b,)), ("clock_adjtime", 305, (0, b)),
        ("TIOCSCTTY", 16, (0, 0x540e, 1)), ("vhangup", 153, ())):
    print(name, call(number, *args))
print("tty", attempt(os.open, "/dev/tty", 2))
print("same", os.uname() == before)
print("leader", os.getsid(0) == os.getpid())
''')
    equal(lines(r), {"secure": "0", "sethostname": "EPERM",
                     "setdomainname": "EPERM", "clock_settime": "EPERM",
                     "settimeofday": "EPERM", "adjtimex": "EPERM",
                     "clock_adjtime": "EPERM", "TIOCSCTTY": "EPERM",
                     "vhangup": "EPERM", "tty": "ENOENT", "same": "True",
                     "leader": "True"}, "answers")
    equal(os.uname().nodename != "x", True, "the host's name")


# mov $1,%eax; mov $42,%ebx; int $0x80: exit(42) of the 32-bit table.
I386 = b"\xb8\x01\0\0\0\xbb\x2a\0\0\0\xcd\x80"


def i386_program():
    base, size = 0x8048000, 84 + len(I386)
    return struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 3, 1,
                       base + 84, 52, 0, 0, 52, 32, 1, 40, 0, 0) + \
        struct.pack("<8I", 1, 0, base, base, size, size, 5, 4096) + I386


@case("SC-03 a 32-bit program never ends by itself")
def _():
    r = ask(Place(), '''
f = os.open("/sandbox/old", os.O_WRONLY | os.O_CREAT, 0o755)
os.write(f, %r)
os.close(f)
child = os.fork()
if child == 0:
    try:
        os.execv("/sandbox/old", ["old"])
    except OSError as e:
        os._exit(100 + e.errno)
status = os.waitpid(child, 0)[1]
print("end", os.waitstatus_to_exitcode(status))
''' % i386_program())
    # SIGSYS, SIGSEGV, or ENOEXEC where the kernel knows no such programs.
    check(lines(r)["end"] in ("-31", "-11", "108"), r["stdout"])
    if lines(r)["end"] != "-31":
        excuse("SC-03")


@case("SC-13 SC-15 SC-16 SC-23 SC-24 SC-25 SC-27 SC-28 SC-31 doors of the kernel")
def _():
    p = Place()
    for _, policy in both(p):
        r = ask(p, '''
b = ctypes.create_string_buffer(256)
for name, number, args in (
        ("bpf-map", 321, (0, b, 72)), ("bpf-prog", 321, (5, b, 72)),
        ("bpf-get", 321, (7, b, 72)), ("userfaultfd", 323, (1,)),
        ("io_uring_setup", 425, (1, b)), ("io_uring_enter", 426, (3, 0, 0, 0)),
        ("io_uring_register", 427, (3, 0, 0, 0)),
        ("modify_ldt", 154, (0, b, 16)), ("iopl", 172, (3,)),
        ("ioperm", 173, (0, 1, 1)), ("set_thread_area", 205, (b,)),
        ("arch_prctl-cpuid", 158, (0x1012, 0)),
        ("arch_prctl-xcomp", 158, (0x1023, 18)),
        ("kexec_load", 246, (0, 0, 0, 0)), ("kexec_file_load", 320, (0, 0, 0)),
        ("init_module", 175, (b, 1, b)), ("finit_module", 313, (0, b, 0)),
        ("delete_module", 176, (b, 0)), ("create_module", 174, (b, 1)),
        ("reboot", 169, (0, 0, 0)), ("swapon", 167, (b, 0)),
        ("swapoff", 168, (b,)), ("acct", 163, (b,)), ("quotactl", 179, (0, b)),
        ("quotactl_fd", 443, (0, 0, 0, b)), ("syslog", 103, (3, b, 1)),
        ("lookup_dcookie", 212, (0, b, 1)), ("nfsservctl", 180, ()),
        ("uselib", 134, (b,)), ("_sysctl", 156, (b,)), ("ustat", 136, (0, b)),
        ("sysfs", 139, (3,)), ("fanotify_init", 300, (0, 0)),
        ("fanotify_mark", 301, (0, 1, 2, 0, b)), ("inotify_init", 253, ()),
        ("sched_setscheduler", 144, (0, 1, b)), ("sched_setattr", 314, (0, b, 0)),
        ("sched_setparam", 142, (0, b)), ("ioprio_set", 251, (1, 0, 1 << 13)),
        ("core_sched", 157, (62, 1, 0, 0, 0)), ("perf", 298, (b, 0, -1, -1, 0)),
        ("seccomp-sizes", 317, (3, 0, b)), ("seccomp-listener", 317, (1, 8, b)),
        ("set_mempolicy", 238, (1, 0, 0)), ("mbind", 237, (0, 0, 0, 0, 0, 0)),
        ("move_pages", 279, (0, 0, 0, 0, 0, 0)),
        ("landlock", 444, (b, 8, 0)), ("cachestat", 451, (0, b, b, 0)),
        ("listns", 470, (b, b, 1, 0)), ("lsm_set", 460, (100, b, 16, 0))):
    print(name, call(number, *args))
''', policy=policy)
        bad = {n: a for n, a in lines(r).items() if a not in ("EPERM", "ENOSYS")}
        equal(bad, {}, "reached")


@case("SC-17 a program from memory is under the same filter")
def _():
    r = ask(Place(), '''
fd = os.memfd_create("x")
with open("/usr/bin/unshare", "rb") as f:
    os.write(fd, f.read())
child = os.fork()
if child == 0:
    os.dup2(1, 2)
    os.execve(fd, ["unshare", "-U", "/bin/true"], {})
print("end", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
''')
    check("Operation not permitted" in r["stdout"] and
          lines({"stdout": r["stdout"].splitlines()[-1]}) == {"end": "1"},
          r["stdout"])
    r = ask(Place(), 'print("memfd", call(319, b"x", 0))', policy=STRICT)
    equal(lines(r), {"memfd": "EPERM"}, "strict")


@case("SC-35 restart_syscall leads to no call that was refused")
def _():
    r = ask(Place(), '''
print("refused", call(165, b"x", b"/tmp", b"tmpfs", 0, 0))
print("restart", call(219))
print("again", call(165, b"x", b"/tmp", b"tmpfs", 0, 0))
''')
    equal(lines(r), {"refused": "EPERM", "restart": "EINTR", "again": "EPERM"},
          "answers")


def modules():
    try:
        with open("/proc/modules") as f:
            return {line.split()[0] for line in f}
    except OSError:
        return set()


@case("SC-39 NW-10 nothing that a run asks for loads a module or a handler")
def _():
    before = modules()
    r = ask(Place(), '''
for family in range(46):
    for kind in (1, 2, 3, 5):
        if family not in (1, 2, 10):
            print(family, kind, call(41, family, kind, 0))
f = os.open("/sandbox/odd", os.O_WRONLY | os.O_CREAT, 0o755)
os.write(f, b"\\x07\\x07\\x07\\x07 odd magic")
os.close(f)
print("odd", attempt(os.execv, "/sandbox/odd", ["odd"]))
print("fs", call(165, b"x", b"/tmp", b"oddfs", 0, 0))
''')
    got = r["stdout"].splitlines()
    equal({line.split()[-1] for line in got[:-2]}, {"EPERM"}, "families")
    equal(got[-2:], ["odd ENOEXEC", "fs EPERM"], "magic")
    equal(modules() - before, set(), "modules loaded")


@case("FS-22 FS-23 FS-24 MT-16 nothing moves between the view and the scratch")
def _():
    r = ask(Place(), '''
open("/sandbox/f", "w").close()
open("/tmp/g", "w").close()
def exchange(a, b, flags):
    return call(316, -100, a, -100, b, flags)
print("exchange-usr", exchange(b"/sandbox/f", b"/usr/bin/env", 2))
print("move-usr", exchange(b"/usr/bin/env", b"/sandbox/env", 0))
print("whiteout", exchange(b"/sandbox/f", b"/sandbox/w", 4))
print("move-sandbox", attempt(os.rename, "/sandbox", "/tmp/s"))
print("remove-sandbox", attempt(os.rmdir, "/sandbox"))
print("move-dev", attempt(os.rename, "/dev/shm", "/tmp/s"))
print("link-code", attempt(os.link, "/sandbox/main.py", "/usr/bin/x"))
fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600)
path = "/proc/self/fd/%d" % fd
print("unnamed-usr", attempt(lambda: os.link(path, "/usr/x",
                                             follow_symlinks=True)))
os.symlink("/etc", "/sandbox/etc")
print("through", attempt(os.open, "/sandbox/etc/new", os.O_CREAT | 1))
''')
    bad = {n: a for n, a in lines(r).items()
           if a not in ("EPERM", "EROFS", "EACCES", "EXDEV", "EBUSY")}
    equal(bad, {}, "moved")


@case("RS-06 RS-21 RS-27 memory without use, timers, a core: no harm")
def _():
    p = Place()
    r = ask(p, '''
print("huge", call(9, 0, 100 << 40, 3, 0x4022, -1, 0) in ("ok", "ENOMEM"))
timer = ctypes.create_string_buffer(8)
n = 0
while n < 200000 and call(222, 1, None, timer) == "ok":
    n += 1
print("timers", n < 200000)
''')
    equal(lines(r), {"huge": "True", "timers": "True"}, "bounds")
    r = ask(p, "keep = bytearray(64 << 20)\nos.abort()", status="error")
    equal((r["signal"], r["exit_code"]), (6, None), "how it ended")
    check("core" not in p.result(r["run_id"]).out.decode(), "a core file")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch")
    if os.uname().machine != "x86_64":
        print("skipped: system calls have the numbers of x86_64 here")
        sys.exit(77)
    main()
