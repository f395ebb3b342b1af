"""A control group that was delegated to the account of account.py.

The test makes a group in each hierarchy that holds limits, as root, and gives
it to the account, as a service manager does (Delegate=yes); the account's
commands start in a group beneath.  Every group is removed again.
"""
import atexit
import os
import re
import sys

from account import GID, UID, Home, mine
from lib import kill, wait_for

NAME = "bailiff-test-%d" % os.getpid()


def mounted():
    """Where v2 is, and where the v1 memory and pids controllers are."""
    found = {}
    with open("/proc/self/mountinfo") as f:
        for line in f:
            words = line.split()
            kind = words[words.index("-") + 1]
            options = words[-1].split(",")
            if kind == "cgroup2":
                found.setdefault("unified", words[4])
            for name in ("memory", "pids"):
                if kind == "cgroup" and name in options:
                    found.setdefault(name, words[4])
    return found


def tops():
    """The hierarchies that must be delegated, or the reason why not."""
    places = mounted()
    if "unified" not in places:
        return None, "no cgroup v2 is mounted"
    with open(places["unified"] + "/cgroup.controllers") as f:
        words = f.read().split()
    if "memory" in words and "pids" in words:
        return [places["unified"]], None
    if len(places) < 3:
        return None, "no memory or pids controller"
    return list(places.values()), None


def give(group):
    for name in ("", "cgroup.procs", "cgroup.subtree_control",
                 "cgroup.threads", "tasks"):
        path = os.path.join(group, name)
        if os.path.exists(path):
            os.chown(path, UID, GID)


def hand_down(group):
    path = os.path.join(group, "cgroup.subtree_control")
    if PURE:
        with open(path, "w") as f:
            f.write("+memory +pids")


def remove(group):
    """A group of ours and what is below it; its processes are dead."""
    for here, _, _ in os.walk(group, topdown=False):
        wait_for(lambda: gone(here), "the end of " + here)


def gone(group):
    try:
        os.rmdir(group)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


class Delegated(Home):
    """An account whose commands start in "start", beneath what it was given."""

    def __init__(self, inside="start", tops_given=None, **more):
        put_away()  # what a case that failed has left
        self.groups = []
        for top in TOPS:
            hand_down(top)
            group = os.path.join(top, NAME)
            os.mkdir(group)
            self.groups.append(group)
            if tops_given is None or top in tops_given:
                give(group)
            if inside:
                os.mkdir(os.path.join(group, inside))
                give(os.path.join(group, inside))
        super().__init__(
            enter=[os.path.join(g, inside) for g in self.groups], **more)

    def find(self, *below):
        """Directories below our groups, one per hierarchy that has them."""
        paths = [os.path.join(g, *below) for g in self.groups]
        return [p for p in paths if os.path.isdir(p)]

    def services(self):
        return self.find("bailiff") or self.find("start", "bailiff")

    def instances(self):
        """Instances that have a group, in any hierarchy."""
        found = set()
        for group in self.services():
            found.update(n for n in os.listdir(group)
                         if re.fullmatch("[0-9a-f]{32}", n))
        return found

    def end(self):
        self.stop()
        for group in self.groups:
            remove(group)


def put_away():
    for pid in mine():
        kill(pid)
    for top in TOPS:
        if os.path.isdir(os.path.join(top, NAME)):
            remove(os.path.join(top, NAME))


def begin():
    """Skip where no group can be delegated."""
    if REASON:
        print("skipped: " + REASON)
        sys.exit(77)


TOPS, REASON = tops()
PURE = TOPS is not None and len(TOPS) == 1
if TOPS:
    atexit.register(put_away)
