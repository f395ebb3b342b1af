#!/usr/bin/python3
"""Every system call, made inside a run, gets the answer of the golden table.

    test_golden.py BUILD_DIR SOURCE_DIR

The arguments are six times -1, so a kernel that is reached answers EINVAL,
EFAULT or EBADF and does nothing.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

from lib import (SOURCE, Place, case, equal,  # noqa: E402
                 main, need_programs, need_root, with_ctypes)

STRICT = with_ctypes("strict.json")

# Where they are allowed they end, block or split the probe: made another way.
OTHERWISE = {"rt_sigreturn", "pause", "exit", "exit_group", "fork", "vfork"}
# Allowed and reached, and the kernel itself answers like the filter: futex(2)
# to an unknown operation, setsid(2) to the leader of a session.
LIKE_A_FILTER = {"futex": "ENOSYS", "setsid": "EPERM"}
# uprobe and uretprobe: since Linux 6.14 no filter sees them, and the kernel
# kills who calls them without a probe.
UNSEEN = {335, 336}

PROBE = '''
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
bad = [ctypes.c_long(-1)] * 6
for number in %r:
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *bad)
    print(number, "ok" if r >= 0 else errno.errorcode[ctypes.get_errno()])
'''
BY_USE = '''
import os, signal
signal.signal(signal.SIGALRM, lambda *_: print("rt_sigreturn"))
signal.setitimer(signal.ITIMER_REAL, 0.05)
signal.pause()
print("pause")
child = os.fork()
if child == 0:
    os._exit(3)
print("fork", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
'''


def golden(column):
    """{number: (name, answer)} of one column of the table."""
    path = os.path.join(SOURCE, "tests", "escape", "golden", "x86_64.txt")
    with open(path) as f:
        rows = [line.split() for line in f if not line.startswith("#")]
    return {int(r[0]): (r[1], r[column]) for r in rows}


def sweep(policy, column):
    """What differs between the table and the kernel, as sentences."""
    table = golden(column)
    numbers = [n for n, (name, answer) in table.items()
               if answer != "kill" and n not in UNSEEN and
               not (name in OTHERWISE and answer == "allow")]
    numbers += list(range(513, 1023))
    r = Place().json("--lang", "python", "-c", PROBE % numbers,
                     policy=policy).json
    equal((r["status"], r["stderr"]), ("ok", ""), "end of the probe")
    got = dict(line.split() for line in r["stdout"].splitlines())
    equal(len(got), len(numbers), "answers")
    for number in numbers:
        name, want = table.get(number, ("-", "ENOSYS"))
        want = want.split(":")[-1]
        answer = got[str(number)]
        if want == "allow":
            reached = answer not in ("EPERM", "ENOSYS") or \
                LIKE_A_FILTER.get(name) == answer
            if not reached:
                yield "%d %s: %s, allowed by the table" % (number, name, answer)
        elif answer != want:
            yield "%d %s: %s, not %s" % (number, name, answer, want)


@case("SC-05 default: every number from 0 to 1023 gets the table's answer")
def _():
    equal(list(sweep(None, 2)), [], "differences")


@case("SC-05 strict: every number from 0 to 1023 gets the table's answer")
def _():
    equal(list(sweep(STRICT, 3)), [], "differences")


@case("SC-05 SC-01 the numbers that kill do")
def _():
    for policy, column in ((None, 2), (STRICT, 3)):
        for number, (_, answer) in golden(column).items():
            if answer != "kill":
                continue
            r = Place().json("--lang", "python", "-c", PROBE % [number],
                             policy=policy).json
            equal((r["status"], r["killed_by"], r["stdout"]),
                  ("killed", "syscall", ""), hex(number))


@case("SC-05 what cannot be called with bad arguments works when used")
def _():
    r = Place().json("--lang", "python", "-c", BY_USE).json
    equal((r["status"], r["stdout"].split()),
          ("ok", ["rt_sigreturn", "pause", "fork", "3"]), "use")


need_root()
need_programs("bailiff-supervisor", "bailiff-launch")
if os.uname().machine != "x86_64":
    print("skipped: the measured table is x86_64's")
    sys.exit(77)
main()
