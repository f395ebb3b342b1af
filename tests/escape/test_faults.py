#!/usr/bin/python3
"""Every system call that starts a launcher or sets up a run fails in turn, in
the launcher, in pid 1 of the run and in the program's process: either nothing of the program runs
and a step is named, or the run is in every way the same as without a fault.
Whatever happens, nothing is left of it, and the next run works.

    test_faults.py BUILD_DIR SOURCE_DIR [--long | ROLE CALL OCCURRENCE ERRNO]

The calls are those that a run without a fault makes (fault.h).  Each fails
with EPERM, ENOMEM, ENOSYS and EINTR in the long form; in the short one with
one of them, in rotation, and calls made in long rows fail at some of their
places.  Needs root.  Touches only processes, groups and files that it makes.
"""
import collections
import errno
import os
import re
import select
import subprocess
import sys
import time

BUILD = os.path.abspath(sys.argv[1])
DRIVER = os.path.join(BUILD, "tests", "launch_driver")
LAUNCH = os.path.join(BUILD, "libexec", "bailiff", "bailiff-launch")
LONG = "--long" in sys.argv
ONE = sys.argv[3:] if len(sys.argv) == 7 else None
ERRORS = (errno.EPERM, errno.ENOMEM, errno.ENOSYS, errno.EINTR)
PROGRAM = ("/usr/bin/echo", "the mark of a program")
MARK = "the mark of a program"
STUCK_S = 20
ROW_MAX = 10  # more calls of one kind than this: some of their places

# Not tried: the kernel has no error for them, and they are believed.
CANNOT_FAIL = ("getegid", "geteuid", "getgid", "getpid", "getppid", "getuid",
               "umask")

# Calls without which a run is the same.  A run that goes on must still have
# the posture of one without a fault, so this list cannot hide a lost
# protection; it says why the error is no reason to end the run.
NEEDLESS = {
    ("L", "close"): "the descriptor is gone whatever close says",
    ("I", "close"): "the descriptor is gone whatever close says",
    ("P", "close"): "the descriptor is gone whatever close says",
    ("L", "faccessat2"): "libc asks another way, or the file is written to",
    ("I", "poll"): "it is asked again",
    ("L", "poll"): "only EINTR lets it go on, to ask again",
    ("P", "prlimit64"): "not knowing the limit of dumps, it sets its own",
    ("I", "prctl"): "the name of pid 1 is for people",
    ("P", "prctl"): "and so is that of a process that waits",
}
NEEDLESS_WITH = {
    ("I", "keyctl", errno.ENOSYS):
        "a kernel without keyrings has none to share",
}
NEEDLESS_AT_START = {
    "close": "the descriptor is gone whatever close says",
    "fcntl": "groups of the dead that are not seen wait for the next start",
    "getdents64": "as fcntl",
    "newfstatat": "as fcntl",
    "openat": "as fcntl",
}
# Before main, or in libc's allocator, which has another way.
LIBC = ("arch_prctl", "brk", "getrandom", "mmap", "mprotect", "prlimit64",
        "rseq", "set_robust_list", "set_tid_address")
failures = []


def check(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"),
          flush=True)
    if not ok:
        failures.append(name)


def call_names():
    names = {}
    path = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
    try:
        for line in open(path):
            m = re.match(r"#define __NR_(\w+) (\d+)", line)
            if m:
                names[int(m.group(2))] = m.group(1)
    except OSError:
        pass
    return names


NAMES = call_names()


def name_of(number):
    return NAMES.get(number, str(number))


def leaves(instance):
    """Groups of runs of an instance, and of the instance itself, by tree."""
    found = []
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified",
                 "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids",
                 "/sys/fs/cgroup/cpu"):
        top = os.path.join(root, "bailiff", instance)
        try:
            found += [os.path.join(top, n) for n in os.listdir(top)
                      if re.fullmatch("[0-9a-f]{16}", n)]
        except OSError:
            pass
    return found


def instance_dirs(instance):
    return [p for p in (os.path.join(r, "bailiff", instance) for r in (
        "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory",
        "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu")) if os.path.isdir(p)]


class Launcher:
    """A driver and its launcher, for as long as that lives."""

    def __init__(self):
        self.errors = os.memfd_create("stderr")
        self.process = subprocess.Popen(
            [DRIVER, "-S", "-Q", LAUNCH, *PROGRAM], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.errors)
        self.heard = b""
        head = ""
        while not head.endswith("\n") or "launch " not in head:
            line = self.line()
            if line == "":
                raise SystemExit("FAIL no launcher: " + head + self.stderr())
            head += line
        self.instance = re.search(r"instance (\w+)", head).group(1)
        self.pid = int(re.search(r"^launch (\d+)", head, re.M).group(1))
        self.gone = False
        self.run("-", 0, 0, 0)  # what stays open for ever is open now
        self.rest = self.holds_still()

    def stderr(self):
        return os.pread(self.errors, 4096, 0).decode("utf-8", "replace")

    def line(self):
        """A line, or "" if there is none and will be none."""
        while b"\n" not in self.heard:
            if not select.select([self.process.stdout], [], [], STUCK_S)[0]:
                self.process.kill()
                return ""
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                return ""
            self.heard += more
        line, self.heard = self.heard.split(b"\n", 1)
        return line.decode("utf-8", "replace") + "\n"

    def run(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) +
                                  "\n").encode())
        self.process.stdin.flush()
        text = ""
        while True:
            line = self.line()
            if line == "":
                self.gone = True
                text += "driver-gone\n"
                break
            if line == "case-end\n":
                break
            text += line
        self.gone = self.gone or "launch-gone" in text
        return text

    def holds(self):
        """What the launcher has, as text."""
        base = f"/proc/{self.pid}"
        fds = sorted(re.sub(r"[0-9]+\]", "]", os.readlink(f"{base}/fd/{n}"))
                     for n in os.listdir(f"{base}/fd"))
        mounts = [line.split()[4] for line in open(f"{base}/mountinfo")]
        children = open(f"{base}/task/{self.pid}/children").read().split()
        return {"fds": fds, "mounts": mounts, "children": children,
                "groups": leaves(self.instance)}

    def holds_still(self):
        last = None
        for _ in range(200):
            try:
                now = self.holds()
            except FileNotFoundError:
                now = None
            if now is not None and now == last:
                return now
            last = now
            time.sleep(0.05)
        raise SystemExit("FAIL the launcher does not come to rest")

    def left(self):
        if self.gone:
            for _ in range(500):  # the driver ends after its last line
                if self.process.poll() is not None:
                    break
                time.sleep(0.01)
            return {"groups": instance_dirs(self.instance)} if instance_dirs(
                self.instance) else {}
        found = {}
        for _ in range(200):  # it closes what came with RELEASE after it
            try:
                found = {k: (v, self.rest[k]) for k, v in self.holds().items()
                         if v != self.rest[k]}
            except FileNotFoundError:
                found = {"launcher": "busy or gone"}
            if not found:
                break
            time.sleep(0.01)
        return found

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        os.close(self.errors)


# Texts that differ from one good run to the next.
NOISE = re.compile(r" status (Name|Pid|Tgid|Ngid|PPid|TracerPid|NSpid|NStgid"
                   r"|NSpgid|NSsid|Vm\w+|Rss\w+|Hugetlb\w+|voluntary_\w+"
                   r"|nonvoluntary_\w+|Uid|Gid|State|FDSize|SigQ|Threads"
                   r"|\w*Cpus_allowed\w*|\w*Mems_allowed\w*|SigPnd|ShdPnd"
                   r"|untag_mask|\w*Speculation\w*):|^program pid ")


def posture(text):
    """What the driver saw of the stopped program and of pid 1, without
    numbers that differ from run to run."""
    lines = []
    for line in text.splitlines():
        if not line.startswith(("program ", "init ")) or NOISE.search(line):
            continue
        line = re.sub(r"^(program mountinfo) \d+ \d+ \d+:\d+", r"\1", line)
        line = re.sub(r"(ns/\w+ \w+:\[)\d+\]", r"\1]", line)
        line = re.sub(r"(cgroup .*/bailiff)/[0-9a-f]{32}/[0-9a-f]{16}$",
                      r"\1/RUN", line)
        line = re.sub(r"^(program [ug]id_map) .*", r"\1", line)
        line = re.sub(r"master:\d+|shared:\d+", "", line)
        lines.append(re.sub(r"\s+", " ", line))
    return lines


Call = collections.namedtuple("Call", "role number occurrence result")


def calls_of(text):
    found = []
    for m in re.finditer(r"^call (\w) (\d+) (\d+) (-?\d+) ", text, re.M):
        found.append(Call(m.group(1), *map(int, m.group(2, 3, 4))))
    return found


def places(calls):
    """The calls to fail: all, or of long rows the ends and some between."""
    rows = collections.defaultdict(list)
    for c in calls:
        rows[c.role, c.number].append(c)
    chosen = []
    for row in rows.values():
        if LONG or len(row) <= ROW_MAX:
            chosen += row
        else:
            step = len(row) / (ROW_MAX - 1)
            chosen += [row[int(i * step)] for i in range(ROW_MAX - 1)]
            chosen.append(row[-1])
    return [c for c in calls if c in set(chosen)]


def faults(calls):
    for i, c in enumerate(c for c in places(calls)
                          if name_of(c.number) not in CANNOT_FAIL):
        for error in ERRORS if LONG else (ERRORS[i % len(ERRORS)],):
            if c.result != -error:
                yield c, error


class Sweep:
    def __init__(self):
        self.launcher = Launcher()
        text = self.launcher.run("-", 0, 0, 0)
        self.wanted = posture(text)
        self.calls = calls_of(text)
        self.outcomes = collections.Counter()
        self.steps = collections.Counter()
        self.unnamed, self.ran, self.left, self.next = [], [], [], []
        self.went_on, self.missed = collections.Counter(), 0
        self.n = 0

    def renew(self):
        if self.launcher.gone:
            self.launcher.end()
            self.launcher = Launcher()

    def judge(self, label, call, error, text):
        named = re.search(r"^(failed|step-failed) step=(\S+) errno=\d+ "
                          r"text=(.+?) remedy=.", text, re.M)
        marked = MARK in text
        if "hit 0" in text:
            self.missed += 1
        elif named:
            self.outcomes["refused, step named"] += 1
            self.steps[named.group(2)] += 1
            if marked:
                self.ran.append((label, text))
        elif "launch-gone yes" in text:
            self.outcomes["launcher ended, saying why"] += 1
            if marked:
                self.ran.append((label, text))
            if "bailiff-launch: ending: " not in self.launcher.stderr():
                self.unnamed.append((label, text))
        elif marked and "ended kind=1 value=0 wall=0" in text:
            self.outcomes["went on, posture whole"] += 1
            self.went_on[call.role, name_of(call.number)] += 1
            if posture(text) != self.wanted:
                self.ran.append((label, sorted(
                    set(posture(text)) ^ set(self.wanted))))
            elif not self.may_go_on(call, error):
                self.ran.append((label, "went on: no reason is listed"))
        else:
            self.unnamed.append((label, text))

    def may_go_on(self, call, error):
        return (error == errno.EINTR or call.result < 0 or
                (call.role, name_of(call.number)) in NEEDLESS or
                (call.role, name_of(call.number), error) in NEEDLESS_WITH)

    def one(self, call, error):
        label = "%s %s #%d %s (was %d)" % (
            call.role, name_of(call.number), call.occurrence,
            errno.errorcode[error], call.result)
        text = self.launcher.run(call.role, call.number, call.occurrence,
                                 error)
        self.n += 1
        self.judge(label, call, error, text)
        left = self.launcher.left()
        if left:
            self.left.append((label, left))
        if ONE:
            print(text, self.launcher.stderr(), left)
        if left and not self.launcher.gone:
            self.launcher.rest = self.launcher.holds_still()
        if LONG and self.n % 200 == 0:
            print("%d faults" % self.n, flush=True)
        self.renew()
        # The next fault's run is a next run too: it gets as far as its fault.
        if self.n % 8 == 0 or left:
            text = self.launcher.run("-", 0, 0, 0)
            if MARK not in text or posture(text) != self.wanted:
                self.next.append((label, text))


class StartSweep:
    """The launcher's own start, up to the moment when it is ready: each
    fault has a launcher of its own, and where that still gets ready, a run."""

    def __init__(self):
        self.outcomes, self.went_on = (collections.Counter(),
                                       collections.Counter())
        self.bad, self.unnamed, self.left = [], [], []
        self.instances = {}
        self.n = self.missed = 0
        text, _ = self.drive(0, 0, 0)
        start = text[:text.index("\nready ")]
        self.calls = [c for c in calls_of(start) if c.role == "L"]
        self.wanted = self.look(text)

    def drive(self, number, occurrence, error):
        r = subprocess.run(
            [DRIVER, "-K", "%d %d %d" % (number, occurrence, error), "-S",
             "-Q", LAUNCH, *PROGRAM], input=b"- 0 0 0\n",
            capture_output=True, timeout=120, check=False)
        return (r.stdout.decode("utf-8", "replace"),
                r.stderr.decode("utf-8", "replace"))

    def look(self, text):
        """The postures of a run and of its launcher."""
        mine = "".join(line.replace("launch status", "init status")
                       .replace("launch mountinfo", "program mountinfo") +
                       "\n" for line in text.splitlines()
                       if line.startswith("launch "))
        return posture(text) + posture(mine)

    def one(self, call, error):
        label = "start: %s #%d %s (was %d)" % (
            name_of(call.number), call.occurrence, errno.errorcode[error],
            call.result)
        text, told = self.drive(call.number, call.occurrence, error)
        self.n += 1
        if "\nhit 1" not in text:
            self.missed += 1
        elif "not-ready" in text:
            named = re.search(r"^build-failed step=\S+ errno=\d+ text=.+? "
                              r"remedy=.", text, re.M)
            said = re.search(r"^bailiff-launch: .", told, re.M)
            self.outcomes["not ready, saying why"] += 1
            if not (named or said or name_of(call.number) in LIBC):
                self.unnamed.append((label, text + told))
            if MARK in text:
                self.bad.append((label, text))
        elif MARK not in text and "bailiff-launch: ending: " in told:
            # A call of its own loop, made while "ready" was on its way.
            self.outcomes["ready, then ended saying why"] += 1
        else:
            self.outcomes["ready, nothing missing"] += 1
            self.went_on[name_of(call.number)] += 1
            if MARK not in text or self.look(text) != self.wanted:
                self.bad.append((label, sorted(
                    set(self.look(text)) ^ set(self.wanted))))
            elif not (error == errno.EINTR or call.result < 0 or
                      name_of(call.number) in LIBC or
                      name_of(call.number) in NEEDLESS_AT_START):
                self.bad.append((label, "went on: no reason is listed"))
        instance = re.search(r"instance (\w+)", text).group(1)
        self.instances[instance] = label
        if instance_dirs(instance):
            self.left.append((label, instance_dirs(instance)))

    def files_left(self):
        """A lock file alone may wait for the sweep of the next start."""
        self.drive(0, 0, 0)
        return [(label, "the instance file") for instance, label in
                self.instances.items()
                if os.path.exists("/run/bailiff/instances/" + instance)]


def start_sweep():
    started = time.monotonic()
    sweep = StartSweep()
    for call, error in faults(sweep.calls):
        sweep.one(call, error)
    sweep.left += sweep.files_left()
    print("%d calls make a launcher ready; %d faults in %.0f s, %d of them "
          "not reached" % (len(sweep.calls), sweep.n,
                           time.monotonic() - started, sweep.missed))
    for word, n in sorted(sweep.outcomes.items()):
        print("  %6d %s" % (n, word))
    print("  ready after:", ", ".join(
        "%s %d" % k for k in sorted(sweep.went_on.items())))
    check("a launcher is ready only with all it has without a fault",
          not sweep.bad, some(sweep.bad))
    check("one that is not says why", not sweep.unnamed, some(sweep.unnamed))
    check("nothing is left of a launcher", not sweep.left, some(sweep.left))
    check("nearly every fault of a start was reached",
          sweep.missed * 20 <= max(sweep.n, 20), sweep.missed)


def some(found):
    return "%d: " % len(found) + "\n     ".join(
        "%s: %s" % (label, str(what)[-1500:] if ONE else "\n".join(
            l for l in str(what).splitlines()
            if not l.startswith(("program ", "init ", "ids ")))[-160:])
        for label, what in found[:200])


def main():
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    if os.uname().machine != "x86_64":
        print("skipped: fault.c knows the registers of x86_64 only")
        sys.exit(77)
    started = time.monotonic()
    sweep = Sweep()
    if ONE:
        number = {v: k for k, v in NAMES.items()}[ONE[1]]
        found = [c for c in sweep.calls if (c.role, c.number, c.occurrence) ==
                 (ONE[0], number, int(ONE[2]))]
        wanted = [(found[0], getattr(errno, ONE[3]))]
    else:
        wanted = list(faults(sweep.calls))
    for call, error in wanted:
        sweep.one(call, error)
    sweep.launcher.end()
    print("%d calls make a run; %d faults in %.0f s, %d of them not reached" %
          (len(sweep.calls), sweep.n, time.monotonic() - started,
           sweep.missed))
    for word, n in sorted(sweep.outcomes.items()):
        print("  %6d %s" % (n, word))
    print("  steps named:", ", ".join(
        "%s %d" % s for s in sorted(sweep.steps.items())))
    print("  went on after:", ", ".join(
        "%s %s %d" % (*k, n) for k, n in sorted(sweep.went_on.items())))
    check("a failed step lets nothing of the program run, and no run goes on "
          "with less than all its confinement", not sweep.ran,
          some(sweep.ran))
    check("every failure names its step", not sweep.unnamed,
          some(sweep.unnamed))
    check("no process, group, mount or descriptor is left", not sweep.left,
          some(sweep.left))
    check("the next run works", not sweep.next, some(sweep.next))
    check("nearly every fault was reached",
          sweep.missed * 20 <= max(sweep.n, 20), sweep.missed)
    if not ONE:
        start_sweep()
    print("%d failed" % len(failures))
    sys.exit(1 if failures else 0)


main()
