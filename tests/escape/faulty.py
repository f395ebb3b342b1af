"""What the sweeps of test_faults.py share: a launcher that is driven with
faults, what it holds, what the driver saw of a run.
"""
import collections
import errno
import os
import re
import select
import shutil
import subprocess
import tempfile
import time

ERRORS = (errno.EPERM, errno.ENOMEM, errno.ENOSYS, errno.EINTR)
PROGRAM = ("/usr/bin/echo", "the mark of a program")
MARK = "the mark of a program"
STUCK_S = 30
UID = 1900070011  # no account has it, and no other test

# Not tried: the kernel has no error for them, and they are believed.
CANNOT_FAIL = ("getegid", "geteuid", "getgid", "getpid", "getppid", "getuid",
               "umask")


class Programs:
    """Driver and launcher; a copy of the latter that an account can reach."""

    def __init__(self, build):
        self.driver = os.path.join(build, "tests", "launch_driver")
        self.dir = tempfile.mkdtemp(prefix="bailiff-faults-")
        os.chmod(self.dir, 0o755)
        # Of root the programs beside it are asked as well.
        self.launch = {0: os.path.join(build, "libexec", "bailiff",
                                       "bailiff-launch"),
                       UID: os.path.join(self.dir, "bailiff-launch")}
        shutil.copy2(self.launch[0], self.launch[UID])
        os.chmod(self.launch[UID], 0o755)

    def words(self, uid, *options):
        return [self.driver, "-S", "-Q", "-U", str(uid), *options,
                self.launch[uid], *PROGRAM]

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


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


def difference(now, before):
    """Of two lists what one has and the other has not; else both."""
    if not isinstance(now, list):
        return "%s, before %s" % (now, before)
    now, before = collections.Counter(now), collections.Counter(before)
    return "more: %s, less: %s" % (sorted((now - before).elements()),
                                   sorted((before - now).elements()))


def processes_of(uid):
    """Processes of an account that is not root's."""
    found = []
    for pid in os.listdir("/proc") if uid != 0 else ():
        try:
            if pid.isdigit() and re.search(
                    r"^Uid:\t%d\t" % uid, open("/proc/%s/status" % pid).read(),
                    re.M):
                found.append(int(pid))
        except OSError:
            pass
    return found


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

    def __init__(self, programs, uid=0, ahead=False):
        self.uid = uid
        self.errors = os.memfd_create("stderr")
        self.process = subprocess.Popen(
            programs.words(uid, *(["-P"] if ahead else [])),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
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
        if self.gone and "watched\n" not in text:
            return text
        before, _, text = text.rpartition("watched\n")
        # Where none is made ahead, nothing is said of it.
        self.rested = "rest no" not in before + text
        return text

    def holds(self):
        """What the launcher has; of what it made ahead the number, since each
        run gets another."""
        base = f"/proc/{self.pid}"
        fds = sorted(re.sub(r"[0-9]+\]|/[0-9a-f]{16}\b|/[0-9]+$", "",
                            os.readlink(f"{base}/fd/{n}"))
                     for n in os.listdir(f"{base}/fd"))
        mounts = [line.split()[4] for line in open(f"{base}/mountinfo")]
        children = open(f"{base}/task/{self.pid}/children").read().split()
        return {"fds": fds, "mounts": mounts, "children": len(children),
                "groups": len(leaves(self.instance)),
                "processes": len(processes_of(self.uid))}

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
            for _ in range(500):  # the dead of a pid namespace go last
                if not processes_of(self.uid):
                    break
                time.sleep(0.01)
            return {k: v for k, v in (
                ("groups", instance_dirs(self.instance)),
                ("processes", processes_of(self.uid))) if v}
        found = {}
        for _ in range(200):  # it closes what came with RELEASE after it
            try:
                found = {k: difference(v, self.rest[k])
                         for k, v in self.holds().items()
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


Call = collections.namedtuple("Call", "role number occurrence result first")


def calls_of(text):
    found = []
    for m in re.finditer(r"^call (\w) (\d+) (\d+) (-?\d+) ([0-9a-f]+) ", text,
                         re.M):
        found.append(Call(m.group(1), *map(int, m.group(2, 3, 4)),
                          int(m.group(5), 16)))
    return found
