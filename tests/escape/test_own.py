#!/usr/bin/python3
"""The probes of the other files against a service without root.

    test_own.py BUILD_DIR SOURCE_DIR [part of a name]

The cases are those of test_probes.py, test_surface.py and test_lifecycle.py.
Here their place is the home of an ordinary account (tests/service/account.py)
and their policies are the preset "user" and a "strict" that accepts what is
missing; every run must name that in its result and in its record.  Cases of
memory need control groups: they run in one that was delegated to the account
(tests/service/delegated.py), where there is one.
"""
import json
import os
import subprocess
import sys

import probe

import delegated
import lib
from account import ALWAYS, GID, INSTALL, UID, WORDS, Home, begin
from lib import Skip, equal, with_ctypes

MODULES = ("test_probes", "test_surface", "test_lifecycle")
# Without a group memory is bounded for each process, by its address space.
GROUPED = ("RS-05 ",)


def accepting(preset):
    path = with_ctypes(preset)
    with open(path) as f:
        policy = json.load(f)
    policy["degraded"] = "accept"
    with open(path, "w") as f:
        json.dump(policy, f)
    return path


USER, STRICT = accepting("user.json"), accepting("strict.json")


class OwnPlace:
    """What the cases use of lib.Place, as the account.  They share a home."""

    own = True
    home = None
    words_missing = WORDS

    def __init__(self, **policy):
        self.state, self.dir = self.home.state, self.home.dir
        self.policy = self.write_policy("case.json", **policy) if policy \
            else USER
        self.old = len(self.all_records())

    def write_policy(self, name, **over):
        with open(USER) as f:
            policy = lib.merge(json.load(f), over)
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            json.dump(policy, f)
        os.chown(path, UID, GID)
        os.chmod(path, 0o644)
        return path

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def words(self, command, *args):
        """For a process of root: as the account, with the same environment."""
        return ["setpriv", "--reuid=%d" % UID, "--regid=%d" % GID,
                "--clear-groups", "--", "env", "HOME=" + self.dir,
                os.path.join(INSTALL, "bin", "bailiff"), command, "--policy",
                self.policy, *args]

    def run(self, *args, stdin=b"", policy=None):
        return self.home.run("--policy", policy or self.policy, *args,
                             stdin=stdin)

    def json(self, *args, **more):
        r = self.run("--json", *args, **more)
        try:
            r.json = json.loads(r.out)
        except ValueError:
            raise AssertionError("no JSON: %r" % r) from None
        if r.json["status"] != "denied":
            equal(r.json["degraded"], self.words_missing, "in the result")
            equal(self.home.outcome(r.json["run_id"])["degraded"],
                  self.words_missing, "in the record")
        return r

    def start(self, *args, env=None):
        return subprocess.Popen(
            self.words("run", *args), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)

    def audit(self, *args):
        return self.home.call("audit", *args)

    def verify(self):
        return self.audit("verify")

    def result(self, *args):
        return self.home.call("result", "--policy", self.policy, *args)

    def all_records(self):
        return [stmt["predicate"] for stmt in self.home.records()] \
            if os.path.isdir(os.path.join(self.state, "audit", "log")) else []

    def records(self):
        """Since this place was made."""
        return self.all_records()[self.old:]


def in_group(function):
    """The case in a home whose control group is the account's."""
    def case():
        if delegated.REASON:
            raise Skip("without a control group: " + delegated.REASON)
        lone, missing = OwnPlace.home, OwnPlace.words_missing
        lone.stop()
        OwnPlace.home = delegated.Delegated()
        OwnPlace.words_missing = ALWAYS
        try:
            function()
        finally:
            OwnPlace.home.end()
            OwnPlace.home, OwnPlace.words_missing = lone, missing

    return case


def take_over():
    """The other files' cases, with our Place in the place of theirs."""
    for name in MODULES:
        module = __import__(name)
        module.Place = OwnPlace
        module.STRICT = STRICT
    probe.STRICT = STRICT
    for i, (name, function) in enumerate(lib._cases):
        if name.startswith(GROUPED):
            lib._cases[i] = (name, in_group(function))


if os.uname().machine != "x86_64":
    print("skipped: system calls have the numbers of x86_64 here")
    sys.exit(77)
take_over()
begin()
OwnPlace.home = Home()
lib.main()
