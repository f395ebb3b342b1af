#!/usr/bin/python3
"""Every system call that starts a launcher, makes a sandbox ahead or sets up a
run fails in turn, in the launcher, in pid 1 of the run and in the program's
process: either nothing of the program runs and a step is named, or the run is
in every way the same as without a fault.  Whatever happens, nothing is left of
it, and the next run works.

    test_faults.py BUILD_DIR SOURCE_DIR [--long] [--only PART]
    test_faults.py BUILD_DIR SOURCE_DIR --one PART ROLE CALL OCCURRENCE ERRNO

The calls are those that a launcher without a fault makes (fault.h).  Each fails
with EPERM, ENOMEM, ENOSYS and EINTR in the long form; in the short one with
one of them, in rotation, and calls made in long rows fail at some of their
places.  Needs root.  Touches only processes, groups and files that it makes.
"""
import collections
import errno
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from faulty import (CANNOT_FAIL, ERRORS, MARK, NAMES, UID,  # noqa: E402
                    Launcher, Programs, calls_of, instance_dirs, name_of,
                    posture, processes_of)

BUILD = os.path.abspath(sys.argv[1])
LONG = "--long" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
ONE = sys.argv[sys.argv.index("--one") + 1:] if "--one" in sys.argv else None

# Name, option of the launcher's account, whether sandboxes are made ahead, when
# the fault comes (driver_faults.c), and in the short form how many calls of a
# kind are tried of the launcher and of the others, and which of them.
Part = collections.namedtuple("Part",
                              "name uid ahead when most_l most_others every")
PARTS = (
    Part("on request", 0, False, "r", 4, 3, 1),
    Part("taken", 0, True, "r", 2, 1, 2),
    Part("made ahead", 0, True, "p", 2, 1, 2),
    Part("made ahead, again and again", 0, True, "a", 1, 1, 3),
    Part("rootless on request", UID, False, "r", 2, 1, 2),
    Part("rootless taken", UID, True, "r", 1, 0, 1),
    Part("rootless made ahead", UID, True, "p", 1, 1, 3),
    Part("rootless made ahead, again and again", UID, True, "a", 1, 0, 1),
)
STARTS = (
    Part("start", 0, False, "", 3, 0, 1),
    Part("rootless start", UID, False, "", 1, 0, 1),
)

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
    "brk": "libc's allocator has another way",
}
# prctl(PR_SET_NAME), whose name is for people; fault.c tells the arguments.
PR_SET_NAME = 15
# Before main only: the dynamic linker's part of libc.
BEFORE_MAIN = ("arch_prctl", "brk", "getrandom", "mmap", "mprotect",
               "prlimit64", "pread64", "readlink", "rseq", "set_robust_list",
               "set_tid_address")
# The first call of our own after an exec.
OURS = ("getsockopt", "unshare", "execve")
failures = []


def check(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"),
          flush=True)
    if not ok:
        failures.append(name)


def some(found):
    return "%d: " % len(found) + "\n     ".join(
        "%s: %s" % (label, str(what)[-1500:] if ONE else "\n".join(
            l for l in str(what).splitlines()
            if not l.startswith(("program ", "init ", "ids ")))[-200:])
        for label, what in found[:200])


def is_few(missed, n):
    """How often a call is made depends a little on the host: pairs of ids that
    other runs have, polls that are interrupted."""
    return missed * 10 <= max(n, 50)


def places(calls, part):
    """The calls to fail: all, or of long rows the ends and some between."""
    rows = collections.defaultdict(list)
    for c in calls:
        rows[c.role, c.number].append(c)
    chosen = set()
    for (role, _), row in rows.items():
        most = part.most_l if role == "L" else part.most_others
        if LONG or ONE or len(row) <= most:
            chosen.update(row)
        elif most > 0:
            chosen.add(row[-1])
            chosen.update(row[int(i * len(row) / most)]
                          for i in range(most - 1))
    return [c for c in calls if c in chosen][::1 if LONG or ONE else
                                             part.every]


def faults(calls, part):
    for i, c in enumerate(c for c in places(calls, part)
                          if name_of(c.number) not in CANNOT_FAIL):
        for error in ERRORS if LONG else (ERRORS[i % len(ERRORS)],):
            # What is asked again as long as it is interrupted would never end.
            if c.result != -error and not (
                    part.when == "a" and error == errno.EINTR):
                yield c, error


def label_of(part, call, error):
    return "%s: %s %s #%d %s (was %d)" % (
        part.name, call.role, name_of(call.number), call.occurrence,
        errno.errorcode[error], call.result)


class Sweep:
    """Faults of one part, one launcher for as long as it lives."""

    def __init__(self, programs, part):
        self.programs, self.part = programs, part
        self.launcher = self.renewed()
        text = self.launcher.run("-", 0, 0, 0, part.when)
        self.wanted = posture(text)
        self.calls = calls_of(text)
        self.outcomes = collections.Counter()
        self.steps = collections.Counter()
        self.unnamed, self.ran, self.left, self.next = [], [], [], []
        self.went_on, self.missed = collections.Counter(), 0
        self.n = 0

    def renewed(self):
        return Launcher(self.programs, self.part.uid, self.part.ahead)

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
            # Nobody waits for what is made ahead: a run makes its own.  What
            # the program's process did so far is proven when a run has it.
            if self.part.when == "p" and call.role != "P":
                self.next.append((label, text))
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
        elif (self.part.when == "a" and not marked and call.role == "I" and
              name_of(call.number) == "write" and
              re.search("^(ended-silent|not-stopped 0)", text, re.M)):
            # Its only means of speech fails for ever; its end says enough.
            self.outcomes["pid 1 ended without a word"] += 1
        else:
            self.unnamed.append((label, text))

    def may_go_on(self, call, error):
        return (self.part.when == "p" or
                error == errno.EINTR or call.result < 0 or
                (call.role, name_of(call.number)) in NEEDLESS or
                (call.role, name_of(call.number), error) in NEEDLESS_WITH)

    def one(self, call, error):
        label = label_of(self.part, call, error)
        text = self.launcher.run(call.role, call.number, call.occurrence,
                                 error, self.part.when)
        self.n += 1
        self.judge(label, call, error, text)
        left = {}
        # After a run that was refused none is made ahead: the run that the
        # next fault begins with is followed by one again.
        if not self.part.ahead or self.launcher.gone or "released yes" in text:
            left = self.launcher.left()
        if not (self.launcher.gone or self.launcher.rested):
            left = dict(left, rest="it is busy for ever")
        if left:
            self.left.append((label, left))
        if ONE:
            print(text, self.launcher.stderr(), left)
        if left and not self.launcher.gone:
            self.launcher.rest = self.launcher.holds_still()
        if LONG and self.n % 500 == 0:
            print("%d faults" % self.n, flush=True)
        # The next fault's run is a next run too: it gets as far as its fault.
        if not self.launcher.gone and (self.n % 8 == 0 or left):
            self.check_next(label)
        if self.launcher.gone:
            self.launcher.end()
            self.launcher = self.renewed()

    def check_next(self, label):
        text = self.launcher.run("-", 0, 0, 0, "r")
        if MARK not in text or posture(text) != self.wanted:
            self.next.append((label, text))
        left = self.launcher.left()
        if left:
            self.left.append((label + ", or one of seven before it", left))
            self.launcher.rest = self.launcher.holds_still()

    def report(self, seconds):
        print("%s: %d calls; %d faults in %.0f s, %d of them not reached" % (
            self.part.name, len(self.calls), self.n, seconds, self.missed))
        for word, n in sorted(self.outcomes.items()):
            print("  %6d %s" % (n, word))
        print("  steps named:", ", ".join(
            "%s %d" % s for s in sorted(self.steps.items())))
        print("  went on after:", ", ".join(
            "%s %s %d" % (*k, n) for k, n in sorted(self.went_on.items())))
        word = self.part.name + ": "
        check(word + "a failed step lets nothing of the program run, and no "
              "run goes on with less than all its confinement", not self.ran,
              some(self.ran))
        check(word + "every failure names its step", not self.unnamed,
              some(self.unnamed))
        check(word + "no process, group, mount or descriptor is left",
              not self.left, some(self.left))
        check(word + "the next run works", not self.next, some(self.next))
        check(word + "nearly every fault was reached",
              is_few(self.missed, self.n), self.missed)


class StartSweep:
    """The launcher's own start, up to the moment when it is ready: each
    fault has a launcher of its own, and where that still gets ready, a run."""

    def __init__(self, programs, part):
        self.programs, self.part = programs, part
        self.outcomes, self.went_on = (collections.Counter(),
                                       collections.Counter())
        self.bad, self.unnamed, self.left = [], [], []
        self.instances = {}
        self.n = self.missed = 0
        text, _ = self.drive(0, 0, 0)
        start = text[:text.index("\nready ")]
        self.calls = [c for c in calls_of(start) if c.role == "L"]
        self.before_main = self.find_before_main()
        self.wanted = self.look(text)

    def find_before_main(self):
        """Calls of libc between an exec and the first call of ours."""
        found, before = set(), True
        for c in self.calls:
            before = before and name_of(c.number) not in OURS
            before = before or name_of(c.number) == "execve"
            if before and name_of(c.number) in BEFORE_MAIN:
                found.add(c)
        return found

    def drive(self, number, occurrence, error):
        r = subprocess.run(
            self.programs.words(self.part.uid, "-K", "%d %d %d" % (
                number, occurrence, error)),
            input=b"- 0 0 0\n", capture_output=True, timeout=120, check=False)
        return (r.stdout.decode("utf-8", "replace"),
                r.stderr.decode("utf-8", "replace"))

    def look(self, text):
        """The postures of a run and of its launcher."""
        mine = "".join(line.replace("launch status", "init status")
                       .replace("launch mountinfo", "program mountinfo") +
                       "\n" for line in text.splitlines()
                       if line.startswith("launch "))
        return posture(text) + posture(mine)

    def may_go_on(self, call, error):
        name = name_of(call.number)
        return (error == errno.EINTR or call.result < 0 or
                call in self.before_main or name in NEEDLESS_AT_START or
                (name == "prctl" and call.first == PR_SET_NAME))

    def one(self, call, error):
        label = label_of(self.part, call, error)
        text, told = self.drive(call.number, call.occurrence, error)
        self.n += 1
        if ONE:
            print(text, told)
        if "\nhit 1" not in text:
            self.missed += 1
        elif "not-ready" in text:
            named = re.search(r"^build-failed step=\S+ errno=\d+ text=.+? "
                              r"remedy=.", text, re.M)
            said = re.search(r"^bailiff-launch: .", told, re.M)
            self.outcomes["not ready, saying why"] += 1
            if not (named or said or call in self.before_main):
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
            elif not self.may_go_on(call, error):
                self.bad.append((label, "went on: no reason is listed"))
        instance = re.search(r"instance (\w+)", text).group(1)
        self.instances[instance] = label
        left = instance_dirs(instance) + processes_of(self.part.uid)
        if left:
            self.left.append((label, left))

    def files_left(self):
        """A lock file alone may wait for the sweep of the next start."""
        self.drive(0, 0, 0)
        return [(label, "the instance file") for instance, label in
                self.instances.items()
                if os.path.exists("/run/bailiff/instances/" + instance)]

    def report(self, seconds):
        self.left += self.files_left()
        print("%s: %d calls make a launcher ready; %d faults in %.0f s, %d of "
              "them not reached" % (self.part.name, len(self.calls), self.n,
                                    seconds, self.missed))
        for word, n in sorted(self.outcomes.items()):
            print("  %6d %s" % (n, word))
        print("  ready after:", ", ".join(
            "%s %d" % k for k in sorted(self.went_on.items())))
        word = self.part.name + ": "
        check(word + "a launcher is ready only with all it has without a "
              "fault", not self.bad, some(self.bad))
        check(word + "one that is not says why", not self.unnamed,
              some(self.unnamed))
        check(word + "nothing is left of a launcher", not self.left,
              some(self.left))
        check(word + "nearly every fault of a start was reached",
              is_few(self.missed, self.n), self.missed)


def sweep_part(programs, kind, part):
    started = time.monotonic()
    sweep = kind(programs, part)
    if ONE:
        _, role, name, occurrence, error = ONE
        number = {v: k for k, v in NAMES.items()}[name]
        wanted = [(c, getattr(errno, error)) for c in sweep.calls if
                  (c.role, c.number, c.occurrence) ==
                  (role, number, int(occurrence))]
    else:
        wanted = list(faults(sweep.calls, part))
    for call, error in wanted:
        sweep.one(call, error)
    if kind is Sweep:
        sweep.launcher.end()
    sweep.report(time.monotonic() - started)


def gives_namespaces():
    """Whether an account other than root gets a user namespace here."""
    return subprocess.run(
        ["setpriv", "--reuid", str(UID), "--regid", str(UID),
         "--clear-groups", "unshare", "-Um", "true"],
        stderr=subprocess.DEVNULL, check=False).returncode == 0


def main():
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    if os.uname().machine != "x86_64":
        print("skipped: fault.c knows the registers of x86_64 only")
        sys.exit(77)
    wanted = ONE[0] if ONE else ONLY
    if wanted and wanted not in [part.name for part in PARTS + STARTS]:
        sys.exit("no part %r; there are: %s" % (
            wanted, ", ".join(part.name for part in PARTS + STARTS)))
    programs = Programs(BUILD)
    rootless = gives_namespaces()
    if not rootless:
        print("skip: rootless parts: no user namespaces for accounts here")
    try:
        for kind, parts in ((Sweep, PARTS), (StartSweep, STARTS)):
            for part in parts:
                if (part.name == (wanted or part.name) and
                        (rootless or part.uid == 0)):
                    sweep_part(programs, kind, part)
    finally:
        programs.remove()
    print("%d failed" % len(failures))
    sys.exit(1 if failures else 0)


main()
