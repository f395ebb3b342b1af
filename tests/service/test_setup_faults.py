"""What the host refuses in the middle of setting up a run: the program never
starts, the record and the client are told the step, and once the host gives
again the same service runs the next.

Run as: python3 test_setup_faults.py BUILD_DIR SOURCE_DIR [part of a name].

In a mount namespace of its own, with a /run/bailiff of its own to fill up.
Each system call by itself: tests/escape/test_faults.py.
"""
import contextlib
import ctypes
import errno
import fcntl
import os
import re

from lib import (Place, Skip, case, check, equal, is_parked, kill, main,
                 need_programs, need_root, one_line, parent, pids, recorded,
                 wait_for)

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
RUN = "/run/bailiff"
PAIRS = 4096  # UIDPOOL_TRIES
INODES = PAIRS + 1024


def enter():
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs(RUN, mode=0o755, exist_ok=True)
    if (libc.unshare(CLONE_NEWNS) < 0 or
            libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) < 0 or
            libc.mount(b"tmpfs", RUN.encode(), b"tmpfs", 0,
                       b"mode=755,size=16m,nr_inodes=%d" % INODES) < 0):
        raise OSError(ctypes.get_errno(), "a mount namespace of our own")


def refused(place, step, number):
    """A run that fails in 'step', in all that is told of it."""
    r = place.json("--lang", "bash", "-c", "echo the mark")
    check(b"the mark" not in r.out + r.err, "it ran: %r" % r)
    recorded(place, r.json)
    equal((r.json["status"], r.json["phase"], r.json["exit_code"]),
          ("error", "setup", None), "the answer")
    last = place.records()[-1]
    equal((last["type"], last["status"], last["phase"]),
          ("outcome", "error", "setup"), "the record")
    equal(last["failed"], {"errno": number, "step": step}, "what failed")
    r = place.bash("echo the mark")
    check(b"the mark" not in r.out and r.code != 0, "it ran: %r" % r)
    one_line(r, step)


def goes_on(place, service):
    r = place.bash("echo on")
    equal((r.code, r.out), (0, b"on\n"), "the next run")
    equal(place.supervisors() + place.launchers(), service, "the service")
    r = place.verify()
    equal(r.code, 0, "verify: %r" % r)


def parked(place):
    """The sandboxes that wait for a run."""
    launchers = place.launchers()
    return [pid for pid in pids() if is_parked(pid) and
            parent(pid) in launchers]


def started():
    """A service that has run something, without a sandbox made ahead: what
    that took, it took before the host refused."""
    place = Place()
    r = place.bash(":")
    equal(r.code, 0, "a first run (%r)" % r)
    for pid in wait_for(lambda: parked(place), "a sandbox made ahead"):
        kill(pid)
    wait_for(lambda: not parked(place), "its end")
    return place, place.supervisors() + place.launchers()


@case("a sandbox that dies before its run is replaced by that run's own")
def _():
    place, service = started()
    goes_on(place, service)


def instance_of(place):
    for pid in place.launchers():
        for name in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(OSError):
                link = os.readlink("/proc/%d/fd/%s" % (pid, name))
                found = re.search("/instances/([0-9a-f]{32})", link)
                if found:
                    return found.group(1)
    raise AssertionError("no instance")


def knob(place, tree, name):
    """A file of our instance's group, in the tree that has it."""
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/" + tree):
        path = "%s/bailiff/%s/%s" % (top, instance_of(place), name)
        if os.path.exists(path):
            return path
    raise Skip("no %s" % name)


@contextlib.contextmanager
def set_to(path, text):
    with open(path) as f:
        old = f.read()
    with open(path, "w") as f:
        f.write(text)
    try:
        yield
    finally:
        with open(path, "w") as f:
            f.write(old)


@case("no control group can be made: step cgroup")
def _():
    place, service = started()
    with set_to(knob(place, "unified", "cgroup.max.descendants"), "0"):
        refused(place, "cgroup", errno.EAGAIN)
    goes_on(place, service)


@case("no process can be made beside pid 1 of a run: step fork")
def _():
    place, service = started()
    with set_to(knob(place, "pids", "pids.max"), "1"):
        refused(place, "fork", errno.EAGAIN)
    goes_on(place, service)


def lock(fd):
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


@contextlib.contextmanager
def all_pairs_taken(n):
    held = []
    for i in range(n):
        fd = os.open("%s/uids/%d" % (RUN, i), os.O_RDWR | os.O_CREAT, 0o600)
        # The launcher lets go of what it had for the sandbox that died.
        wait_for(lambda: lock(fd), "the lock of pair %d" % i, 10)
        held.append(fd)
    try:
        yield
    finally:
        for fd in held:
            os.close(fd)


@case("other runs of the host have all uids: step uids")
def _():
    place, service = started()
    with all_pairs_taken(PAIRS):
        refused(place, "uids", 0)
    goes_on(place, service)


@contextlib.contextmanager
def no_room():
    made = []
    try:
        while True:
            path = "%s/filler-%d" % (RUN, len(made))
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            made.append(path)
    except OSError as e:
        equal(e.errno, errno.ENOSPC, "filling")
    try:
        yield
    finally:
        for path in made:
            os.unlink(path)


@case("/run/bailiff has no room for one more lock: step uids")
def _():
    for name in os.listdir(RUN + "/uids"):
        os.unlink("%s/uids/%s" % (RUN, name))
    place, service = started()
    with all_pairs_taken(1), no_room():
        refused(place, "uids", errno.ENOSPC)
        other = Place()
        r = other.bash("echo the mark")
        check(r.code != 0 and b"the mark" not in r.out, "it ran: %r" % r)
        one_line(r)
    goes_on(place, service)
    r = other.bash("echo now")
    equal((r.code, r.out), (0, b"now\n"), "the other service")


need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
enter()
main()
