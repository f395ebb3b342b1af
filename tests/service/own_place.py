"""lib.Place as the home of an ordinary account, so that cases written for root's
service run on one without root.

OwnPlace.home is set by who uses it; all places share it.  Every run must name
what is missing, in its result and in its record.
"""
import json
import os
import subprocess

import delegated
import lib
from account import ALWAYS, GID, INSTALL, UID, WORDS, called
from lib import Skip, equal, parent, with_ctypes


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
    made = 0
    words_missing = WORDS

    def __init__(self, **policy):
        self.state, self.dir = self.home.state, self.home.dir
        OwnPlace.made += 1
        self.policy = USER
        if policy:
            self.policy = self.write_policy("case-%d.json" % self.made,
                                            **policy)
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

    def words(self, command, *args, policy=None):
        """For a process of root: as the account, in its control groups, with
        the same environment."""
        enter = "".join('echo $$ > "%s"/cgroup.procs; ' % group
                        for group in self.home.enter)
        return ["/bin/sh", "-c", enter + 'exec "$@"', "sh",
                "setpriv", "--reuid=%d" % UID, "--regid=%d" % GID,
                "--clear-groups", "--", "env", "HOME=" + self.dir,
                os.path.join(INSTALL, "bin", "bailiff"), command, "--policy",
                policy or self.policy, *args]

    def run(self, *args, stdin=b"", policy=None, **more):
        return lib.call(self.words("run", *args, policy=policy), stdin=stdin,
                        **more)

    def bash(self, code, *args, **more):
        return self.run("--lang", "bash", "-c", code, *args, **more)

    def python(self, code, *args, **more):
        return self.run("--lang", "python", "-c", code, *args, **more)

    def write(self, name, data, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        os.chown(path, UID, GID)
        os.chmod(path, mode)
        return path

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

    def launchers(self):
        return [pid for pid in called("bailiff-launch")
                if parent(pid) in called("bailiff-supervisor")]

    def stop(self):
        self.home.stop()

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


def take_over(modules, grouped):
    """The cases of these modules are ours now, with our Place in the place of
    theirs; those whose name begins so need a control group."""
    for module in modules:
        module.Place = OwnPlace
    for i, (name, function) in enumerate(lib._cases):
        if name.startswith(grouped):
            lib._cases[i] = (name, in_group(function))
