"""kill -9 of each program in mid-run: nothing survives, and the log verifies.

Run as: python3 test_kill.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import os
import select
import signal
import time
import uuid

from lib import (PATIENCE_S, Place, case, cgroup_directories,
                 check, equal, instance_processes, instances_of, is_parked,
                 kill, main, marked_mounts, mount_namespace, need_programs,
                 need_root, parent, pids, run_directory, run_processes,
                 wait_for)


class Run:
    """A run with children of its own, known by a marker."""

    def __init__(self, place):
        self.marker = uuid.uuid4().hex
        # Grandchildren, a new session, ignored signals: the usual ways out.
        code = ("trap '' TERM HUP INT; (setsid sleep 1000 &) ; "
                "(sleep 1000 &) ; echo up; sleep 1000")
        self.front = place.start("--lang", "bash", "-c", code, "--",
                                 self.marker)
        ready, _, _ = select.select([self.front.stdout], [], [], PATIENCE_S)
        check(ready, "the run did not come up")
        got = os.read(self.front.stdout.fileno(), 3)
        if got != b"up\n":
            raise AssertionError(self.front.communicate())
        inside = [pid for pid in run_processes(self.marker)
                  if pid != self.front.pid]
        check(inside, "no process of the run")
        self.program = min(inside)
        self.init = parent(self.program)
        self.instances = instances_of(self.program)
        equal(len(self.instances), 1, "instance")
        # Each run has a mount namespace of its own, and the launcher has one.
        self.spaces = {mount_namespace(pid) for pid in
                       (self.program, self.init, parent(self.init))}
        check(len(self.spaces - {None, mount_namespace(os.getpid())}) > 1,
              "mount namespaces %r" % self.spaces)


def mounts_left(place, run):
    """Namespaces of the run that somebody is still in, and what it or its
    instance has mounted in ours."""
    alive = {mount_namespace(pid) for pid in
             place.launchers() + [os.getpid()]}
    there = {mount_namespace(pid) for pid in pids()}
    return sorted(run.spaces & there - alive) + marked_mounts(
        place.dir, run_directory(place.state), *run.instances)


def aftermath(place, run, code=None):
    """What must hold after any death."""
    out, err = run.front.communicate(timeout=PATIENCE_S)
    if code is not None:
        equal(run.front.returncode, code, "exit of the front (%r)" % err)
    wait_for(lambda: not [pid for pid in run_processes(run.marker)],
             "the end of every process of the run", 30)
    wait_for(lambda: not [pid for pid in instance_processes(run.instances)
                          if not is_parked(pid) and
                          pid not in place.supervisors() +
                          place.launchers() + place.signers()],
             "empty cgroups", 30)
    wait_for(lambda: not mounts_left(place, run), "the end of every mount",
             30)
    for name in os.listdir(os.path.join(place.state, "results")):
        if name.startswith("r_"):
            manifest = os.path.join(place.state, "results", name, "MANIFEST")
            check(os.path.exists(manifest), "half-made result " + name)
    r = place.verify()
    check(r.code in (0, 5), "verify in between: %r" % r)
    r = place.bash("echo on")
    equal((r.code, r.out), (0, b"on\n"), "next run (%r)" % r.err)
    equal(place.stop().code, 0, "stop")
    wait_for(lambda: not place.signers(), "the signer's end")
    r = place.verify()
    check(r.code in (0, 5), "verify: %r" % r)
    wait_for(lambda: not cgroup_directories(run.instances),
             "empty cgroup directories to go", 30)
    intents = {r["req"] for r in place.records() if r["type"] == "intent"}
    ends = [r["req"] for r in place.records() if r["type"] == "outcome"]
    equal(sorted(ends), sorted(intents), "one outcome an intent")


def last_outcome(place):
    """The outcome of the first run: the killed one."""
    first = [r for r in place.records() if r["type"] == "intent"][0]["req"]
    return [r for r in place.records()
            if r["type"] == "outcome" and r["req"] == first][0]


@case("the supervisor")
def _():
    p = Place()
    run = Run(p)
    kill(p.supervisors()[0])
    aftermath(p, run, 125)
    equal(last_outcome(p)["status"], "aborted", "status")


@case("the launcher")
def _():
    p = Place()
    run = Run(p)
    kill(p.launchers()[0])
    aftermath(p, run)
    end = last_outcome(p)
    check((end["status"], end.get("killed_by")) in (
        ("killed", "supervisor"), ("aborted", "supervisor")), "%r" % end)


@case("the signer")
def _():
    p = Place()
    run = Run(p)
    kill(p.signers()[0])
    aftermath(p, run, 125)
    equal(last_outcome(p)["status"], "aborted", "status")


@case("pid 1 of the run")
def _():
    p = Place()
    run = Run(p)
    kill(run.init)
    aftermath(p, run)
    check(last_outcome(p)["status"] in ("error", "killed"),
          "status %r" % last_outcome(p))


@case("the program itself, while its children live")
def _():
    p = Place()
    run = Run(p)
    kill(run.program)
    aftermath(p, run, 137)
    end = last_outcome(p)
    equal((end["status"], end["exit"]), ("error", {"signal": 9}), "outcome")


@case("the front")
def _():
    p = Place()
    run = Run(p)
    kill(run.front.pid)
    aftermath(p, run, -9)
    end = last_outcome(p)
    equal((end["status"], end["killed_by"]), ("cancelled", "client"), "end")


@case("supervisor, launcher and signer together")
def _():
    p = Place()
    run = Run(p)
    for pid in p.signers() + p.supervisors() + p.launchers():
        kill(pid)
    aftermath(p, run, 125)
    equal(last_outcome(p)["status"], "aborted", "status")


@case("a stopped supervisor does not keep a run beyond its wall limit")
def _():
    p = Place()
    run = Run.__new__(Run)
    run.marker = uuid.uuid4().hex
    front = p.start("--timeout", "2", "--lang", "bash", "-c",
                    "echo up; sleep 1000", "--", run.marker)
    os.read(front.stdout.fileno(), 3)
    pid = p.supervisors()[0]
    kill(pid, signal.SIGSTOP)
    try:
        wait_for(lambda: [x for x in run_processes(run.marker)] ==
                 [front.pid], "init to enforce the limit", 30)
    finally:
        kill(pid, signal.SIGCONT)
    front.communicate(timeout=PATIENCE_S)
    equal(front.returncode, 124, "exit")


@case("five rounds of killing the service while ten commands run")
def _():
    p = Place()
    for number in range(5):
        started = [p.start("--lang", "bash", "-c", "echo %d" % i)
                   for i in range(10)]
        time.sleep(0.1 + 0.15 * number)
        victims = p.supervisors() + p.signers() + p.launchers()
        for pid in victims[number % 3::3]:
            kill(pid)
        for s in started:
            out, err = s.communicate(timeout=PATIENCE_S)
            check(s.returncode in (0, 125, 137), "exit %d %r %r" %
                  (s.returncode, out, err))
    equal(p.bash("echo on").out, b"on\n", "afterwards")
    p.stop()
    wait_for(lambda: not p.signers(), "the signer's end")
    r = p.verify()
    check(r.code in (0, 5), "verify: %r" % r)


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
    main()
