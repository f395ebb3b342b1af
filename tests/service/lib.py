"""What the black-box tests of the whole share.

A test makes Places: a state directory of its own under /tmp, policies of its
own beside it, and commands that name both.  It touches only what it made:
services are ended by `bailiff stop`, what is left is killed by pid, and pids
are found by the program's file and the directories it holds.
"""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

BUILD = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])
BAILIFF = os.path.join(BUILD, "bin", "bailiff")
LIBEXEC = os.path.join(BUILD, "libexec", "bailiff")
PRESET = os.path.join(BUILD, "share", "bailiff", "policies", "default.json")
# Where the host cannot have its kernel's text changed: tests/hosts/test_vm.py.
UNTRACED = {"trace": "off"} if os.environ.get("BAILIFF_TEST_UNTRACED") else {}

# Generous: first touch of memory can be slow, and two suites may run at once.
PATIENCE_S = 120

_cases = []
_places = []
_after = []


def case(name):
    """A test case; its name is a sentence."""

    def note(function):
        _cases.append((name, function))
        return function

    return note


def after(function):
    """Called with a case's name when the case itself found nothing wrong."""
    _after.append(function)
    return function


class Skip(Exception):
    """Not tried, for a reason that is printed."""


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def equal(got, want, what="value"):
    if got != want:
        raise AssertionError("%s: got %r, want %r" % (what, got, want))


def need_root():
    if os.geteuid() != 0:
        print("skipped: needs root, this is uid %d" % os.geteuid())
        sys.exit(77)


def need_programs(*names):
    for name in names:
        if not os.access(os.path.join(LIBEXEC, name), os.X_OK):
            print("skipped: %s is not built" % name)
            sys.exit(77)


def main():
    """Run every case, or those whose name holds the third argument."""
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    failed = 0
    for name, function in _cases:
        if wanted not in name:
            continue
        start = time.monotonic()
        try:
            function()
            for last in _after:
                last(name)
            word = "ok  "
        except Skip as skip:
            word = "skip"
            name = "%s (%s)" % (name, skip)
        except Exception:
            word = "FAIL"
            failed += 1
            traceback.print_exc(file=sys.stdout)
        finally:
            clean()
        print("%s %6.2f s  %s" % (word, time.monotonic() - start, name),
              flush=True)
    print("%d cases, %d failed" % (len(_cases), failed))
    sys.exit(1 if failed else 0)


def merge(base, over):
    """A copy of 'base' with 'over' laid over it, object by object."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    result = dict(base)
    for key, value in over.items():
        result[key] = merge(base[key], value) if key in base else value
    return result


def with_ctypes(preset):
    """A preset without denied modules: probes call the kernel by ctypes."""
    folder = tempfile.mkdtemp(prefix="bailiff-test-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)
    with open(os.path.join(os.path.dirname(PRESET), preset)) as f:
        policy = json.load(f)
    for language in policy["languages"].values():
        language.pop("modules", None)
    path = os.path.join(folder, preset)
    with open(path, "w") as f:
        json.dump(policy, f, indent=1)
    os.chmod(path, 0o644)
    return path


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __repr__(self):
        return "exit %s, out %r, err %r" % (self.code, self.out[-400:],
                                            self.err[-400:])


class Place:
    """A state directory and its policy."""

    own = False  # an account's own: program, pid 1 and service have one uid

    def __init__(self, **policy):
        self.dir = tempfile.mkdtemp(prefix="bailiff-test-")
        os.chmod(self.dir, 0o755)
        self.state = os.path.join(self.dir, "state")
        self.policy = self.write_policy("policy.json", **policy)
        _places.append(self)

    def write_policy(self, file_name, **over):
        with open(PRESET) as f:
            policy = merge(merge(json.load(f), UNTRACED), over)
        path = os.path.join(self.dir, file_name)
        with open(path, "w") as f:
            json.dump(policy, f, indent=1)
        os.chmod(path, 0o644)
        return path

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, data, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        os.chmod(path, mode)
        return path

    def words(self, command, *args, policy=None, state=None):
        return [BAILIFF, command, "--policy", policy or self.policy,
                "--state", state or self.state] + list(args)

    def run(self, *args, stdin=b"", policy=None, state=None, **more):
        return call(self.words("run", *args, policy=policy, state=state),
                    stdin=stdin, **more)

    def python(self, code, *args, **more):
        return self.run("--lang", "python", "-c", code, *args, **more)

    def bash(self, code, *args, **more):
        return self.run("--lang", "bash", "-c", code, *args, **more)

    def json(self, *args, **more):
        r = self.run("--json", *args, **more)
        try:
            r.json = json.loads(r.out)
        except ValueError:
            raise AssertionError("no JSON: %r" % r)
        return r

    def start(self, *args, **more):
        """The command running, its output in pipes."""
        return subprocess.Popen(
            self.words("run", *args), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def stop(self, *args):
        return call([BAILIFF, "stop", "--state", self.state] + list(args))

    def result(self, *args):
        return call(self.words("result", *args))

    def audit(self, *args):
        return call([BAILIFF, "audit"] + list(args))

    def verify(self, *args):
        """`bailiff audit verify` of our log, results too."""
        return self.audit("verify", "--results",
                          os.path.join(self.state, "results"), *args,
                          self.state)

    def records(self):
        """The predicate of every record of our log, in order."""
        return records(self.state)

    def supervisors(self):
        return processes("bailiff-supervisor",
                         lambda pid: self.state in cmdline(pid))

    def launchers(self):
        parents = set(self.supervisors())
        return processes("bailiff-launch", lambda pid: parent(pid) in parents)

    def signers(self):
        audit = os.path.join(os.path.realpath(self.state), "audit")
        return processes("bailiff-signer", lambda pid: holds(pid, audit))

    def remove(self):
        outside = outside_of(self.state)
        # A log that no record opened yet is known to its signer only.
        for pid in self.signers():
            words = cmdline(pid)
            if "--new-log" in words:
                outside.append("/etc/bailiff/keys.d/" +
                               words[words.index("--new-log") + 1])
        if os.path.isdir(self.state):
            try:
                self.stop()
            except (AssertionError, subprocess.TimeoutExpired):
                pass
            for find in (self.launchers, self.supervisors, self.signers):
                for pid in find():
                    kill(pid)
            wait_for(lambda: not self.signers(), "the signer's end")
        subprocess.run(["chattr", "-R", "-a", "-i", self.dir],
                       stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.dir, ignore_errors=True)
        for path in outside:
            shutil.rmtree(path, ignore_errors=True)


def outside_of(state):
    """What a state directory has outside itself: RUN and the pinned key."""
    found = []
    try:
        found.append(run_directory(state))
        first = os.path.join(state, "audit", "log", "000000.jsonl")
        with open(first, "rb") as f:
            log = json.loads(f.readline())["stmt"]["predicate"]["log"]
        check(len(log) == 32 and log.isalnum(), "log id %r" % log)
        found.append("/etc/bailiff/keys.d/" + log)
    except (OSError, ValueError, LookupError):
        pass
    return found


def clean():
    while _places:
        _places.pop().remove()


atexit.register(clean)


def run_directory(state):
    """RUN of a state directory, as executor/service.h says."""
    import hashlib
    st = os.stat(state)
    key = "%d:%d" % (st.st_dev, st.st_ino)
    return "/run/bailiff/" + hashlib.sha256(key.encode()).hexdigest()[:16]


def call(words, stdin=b"", timeout=PATIENCE_S, **more):
    """Run a command to its end; 'stdin' None leaves /dev/null."""
    start = time.monotonic()
    kind = {"input": stdin} if stdin is not None else {
        "stdin": subprocess.DEVNULL}
    done = subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout,
                          check=False, **kind, **more)
    code = done.returncode
    return Result(code, done.stdout, done.stderr, time.monotonic() - start)


def one_line(result, *words):
    """The error is one line of ours and holds every word."""
    text = result.err.decode("utf-8", "replace")
    check(text.startswith("bailiff: ") and text.count("\n") == 1,
          "not one line: %r" % text)
    for word in words:
        check(word in text, "%r is not in %r" % (word, text))


def wait_for(condition, what, seconds=PATIENCE_S):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.02)
    raise AssertionError("waited %d s for %s" % (seconds, what))


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read(path):
    with open(path, "rb") as f:
        return f.read()


def cmdline(pid):
    try:
        return [os.fsdecode(w) for w in read("/proc/%d/cmdline" % pid)
                .split(b"\0")[:-1]]
    except OSError:
        return []


def status(pid):
    """The lines of /proc/PID/status as a dictionary."""
    lines = read("/proc/%d/status" % pid).decode().splitlines()
    return {k: v.strip() for k, v in (line.split(":", 1) for line in lines)}


def parent(pid):
    try:
        return int(status(pid)["PPid"])
    except (OSError, KeyError):
        return -1


def is_program(pid, name):
    try:
        own = os.stat(os.path.join(LIBEXEC, name))
        st = os.stat("/proc/%d/exe" % pid)
        alive = status(pid)["State"][0] not in "ZX"
    except (OSError, KeyError):
        return False
    return alive and (st.st_dev, st.st_ino) == (own.st_dev, own.st_ino)


def processes(name, condition=lambda pid: True):
    """Pids of one program of this build for which 'condition' holds."""
    return [pid for pid in pids() if is_program(pid, name) and condition(pid)]


def holds(pid, path):
    """Whether a process has a descriptor beneath 'path'."""
    try:
        fds = os.listdir("/proc/%d/fd" % pid)
    except OSError:
        return False
    for fd in fds:
        try:
            link = os.readlink("/proc/%d/fd/%s" % (pid, fd))
        except OSError:
            continue  # closed meanwhile
        if link == path or link.startswith(path + "/"):
            return True
    return False


def cgroup_of(pid):
    """The part "bailiff/<instance>[/...]" of a process's cgroup, or None."""
    try:
        text = read("/proc/%d/cgroup" % pid).decode()
    except OSError:
        return None
    for line in text.splitlines():
        path = line.split(":", 2)[2]
        if "bailiff/" in path:
            return path[path.index("bailiff/"):]
    return None


def run_processes(marker):
    """Pids whose command line or environment holds 'marker'."""
    found = []
    for pid in pids():
        try:
            text = read("/proc/%d/cmdline" % pid)
        except OSError:
            continue
        if marker.encode() in text and pid != os.getpid():
            found.append(pid)
    return found


def instance_processes(instances):
    """Pids in the cgroup of one of these instances, ours or a run's."""
    found = []
    for pid in pids():
        if instances_of(pid) & set(instances):
            found.append(pid)
    return found


def is_parked(pid):
    """A process of a sandbox made ahead, which no run has yet?  Pid 1 has its
    own name as soon as its child, which takes the request, waits."""
    def waits(one):
        return read("/proc/%d/comm" % one) == b"bailiff-parked\n"
    try:
        return waits(pid) or any(waits(int(child)) for child in read(
            "/proc/%d/task/%d/children" % (pid, pid)).split())
    except OSError:
        return False


def instances_of(*groups):
    """The instance part of the cgroups of some pids."""
    found = set()
    for pid in groups:
        group = cgroup_of(pid)
        name = group.split("/")[1] if group else ""
        if len(name) == 32 and not name.strip("0123456789abcdef"):
            found.add(name)
    return found


def cgroup_directories(instances):
    """Directories of these instances in every hierarchy."""
    found = []
    for root, folders, _ in os.walk("/sys/fs/cgroup"):
        if os.path.basename(root) == "bailiff":
            found += [os.path.join(root, f) for f in folders if f in instances]
    return found


def marked_mounts(*marks):
    """Mounts of our own namespace that name one of these: in the mount point,
    the root or the source.  Other tests mount what they like meanwhile."""
    lines = read("/proc/self/mountinfo").decode().splitlines()
    return [line for line in lines if any(mark in line for mark in marks)]


def mount_namespace(pid):
    """Its number, or None when the process is gone."""
    try:
        return os.stat("/proc/%d/ns/mnt" % pid).st_ino
    except OSError:
        return None


def program_uids():
    """Pids that run under a pair uid of a run, with that uid."""
    found = {}
    for pid in pids():
        try:
            uid = int(status(pid)["Uid"].split()[0])
        except (OSError, KeyError):
            continue
        if uid >= 1900000008 and uid <= 1900065535:
            found[pid] = uid
    return found


def recorded(place, reply):
    """The third assertion of every attempt: this run has one intent and one
    outcome, which says what the reply says, with a posture that was read back
    if anything ran.  Gives the outcome."""
    mine = [r for r in place.records() if r.get("req") == reply["run_id"]]
    equal([r["type"] for r in mine], ["intent", "outcome"], "records")
    outcome = mine[1]
    for key, want in (("status", reply["status"]),
                      ("seq", reply["audit"]["seq"]),
                      ("killed_by", reply["killed_by"])):
        equal(outcome.get(key), want, "the record's " + key)
    if reply["failed"] is None:
        check(outcome["posture"]["steps"] > 30, "posture was not read back")
    return outcome


def recorded_end(place, status):
    """recorded() for a run whose front is gone: the only one of its place."""
    ends = wait_for(lambda: [r for r in place.records()
                             if r["type"] == "outcome"], "the outcome")
    equal([r["type"] for r in place.records() if r.get("req") ==
           ends[0]["req"]], ["intent", "outcome"], "records")
    equal(ends[0]["status"], status, "the record's status")
    check(ends[0]["posture"]["steps"] > 30, "posture was not read back")


def records(state):
    """The predicate of every record of a log, in order."""
    folder = os.path.join(state, "audit", "log")
    found = []
    for name in sorted(os.listdir(folder)):
        for line in read(os.path.join(folder, name)).splitlines():
            found.append(json.loads(line)["stmt"]["predicate"])
    return found
