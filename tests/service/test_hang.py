"""Nothing may hang: who does not answer is named, and the others go on.

All waits run at the same time, in threads; the cases look at what came of
them.  The times are those of executor/patience.h.

Run as: python3 test_hang.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import uuid

from lib import (Place, Result, Skip, case, check, equal, is_parked, kill,
                 main, need_programs, need_root, one_line, parent, pids, processes,
                 run_processes, status, wait_for)

# The longest of patience.h is 35 s; a machine that is busy adds to it.
WITHIN_S = 60


class Strace:
    """A delay in front of one system call, in all that a process starts."""

    def __init__(self, place, pid, name):
        if shutil.which("strace") is None:
            raise Skip("no strace")
        self.process = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", place.path("trace"), "-e",
             "trace=" + name, "-e",
             "inject=%s:delay_enter=100000000" % name, "-p", str(pid)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_for(lambda: self.process.poll() is not None or
                 status(pid).get("TracerPid", "0") != "0", "strace")
        if self.process.poll() is not None:
            raise Skip("strace: %s" % self.process.stderr.read().decode())

    def close(self):
        self.process.kill()
        self.process.communicate()


def up(**policy):
    """A place whose service is up."""
    p = Place(**policy)
    equal(p.bash("true").code, 0, "first run")
    return p


def freeze(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: status(pid)["State"][0] == "T", "the stop")


def thaw(pid):
    kill(pid, signal.SIGCONT)


def is_gone(pid):
    try:
        return status(pid)["State"][0] in "XZ"
    except (OSError, KeyError):
        return True


def begin(place, code):
    """A run that has said "up"."""
    front = place.start("--lang", "bash", "-c", "echo up; " + code)
    equal(os.read(front.stdout.fileno(), 3), b"up\n", "output")
    return front


def end(front):
    out, err = front.communicate(timeout=WITHIN_S)
    return Result(front.returncode, out, err, 0)


def stop_launcher():
    p = up()
    pid, = p.launchers()
    freeze(pid)
    try:
        r = p.bash("echo ran", timeout=WITHIN_S)
        wait_for(lambda: is_gone(pid), "the launcher's end", 10)
    finally:
        thaw(pid)
    return p, r


def end_parked(launcher):
    """The next run makes a sandbox of its own, under strace's eyes."""
    waiting, = wait_for(lambda: [pid for pid in pids() if is_parked(pid) and
                                 parent(pid) == launcher], "a parked sandbox")
    kill(waiting)
    wait_for(lambda: is_gone(waiting), "its end")


def delay(name):
    p = up()
    pid, = p.launchers()
    end_parked(pid)
    trace = Strace(p, pid, name)
    try:
        r = p.bash("echo ran", timeout=WITHIN_S)
    finally:
        trace.close()
    equal(p.launchers(), [pid], "the launcher")
    return p, r


def stop_signer():
    p = up()
    pid, = p.signers()
    freeze(pid)
    try:
        r = p.bash("echo ran", timeout=WITHIN_S)
        wait_for(lambda: not p.supervisors(), "the service's end", 30)
    finally:
        thaw(pid)
    return p, r


def stop_signer_in_mid_run():
    p = up()
    front = begin(p, "sleep 2")
    pid, = p.signers()
    freeze(pid)
    try:
        r = end(front)
        wait_for(lambda: not p.supervisors(), "the service's end", 30)
    finally:
        thaw(pid)
    return p, r


def no_opener():
    """The launcher, which would start it, stands still."""
    p = Place()
    path = p.write("data/file", "x")
    p.policy = p.write_policy("policy.json",
                              paths={"read": [os.path.dirname(path)]})
    equal(p.bash("true").code, 0, "first run")
    pid, = p.launchers()
    freeze(pid)
    try:
        r = p.bash("cat file", "--file", path + ":file", timeout=WITHIN_S)
    finally:
        thaw(pid)
    return p, r


def no_collector():
    """The collector waits while the program runs."""
    p = up()
    front = begin(p, "echo kept > f; sleep 2")
    launcher, = p.launchers()
    pid, = wait_for(lambda: processes("bailiff-collect",
                                      lambda x: parent(x) == launcher),
                    "the collector")
    freeze(pid)
    try:
        r = end(front)
    finally:
        thaw(pid)
    return p, r


def failed_with(p, r, step):
    """The run failed, its record says where, and the next one works."""
    equal((r.code, r.out), (125, b""), "%r" % r)
    one_line(r, step)
    outcome = [x for x in p.records() if x["type"] == "outcome"][-1]
    equal((outcome["status"], outcome["phase"], outcome["failed"]["step"],
           outcome["failed"]["errno"]), ("error", "setup", step, errno.ETIME),
          "record")
    goes_on(p)


def goes_on(p):
    r = p.bash("echo on")
    equal((r.code, r.out), (0, b"on\n"), "next run: %r" % r)
    p.stop()
    wait_for(lambda: not p.signers(), "the signer's end")
    check(p.verify().code in (0, 5), "verify")


def launcher_case():
    failed_with(*stop_launcher(), "launcher.timeout")


def clone_case():
    failed_with(*delay("sethostname"), "launcher.timeout")


def init_case():
    failed_with(*delay("setresgid"), "init.timeout")


def signer_case():
    p, r = stop_signer()
    equal((r.code, r.out), (125, b""), "%r" % r)
    one_line(r, "signer.timeout")
    goes_on(p)


def outcome_case():
    p, r = stop_signer_in_mid_run()
    equal(r.code, 125, "%r" % r)
    one_line(r, "signer.timeout")
    goes_on(p)
    intents = [x["req"] for x in p.records() if x["type"] == "intent"]
    ends = [x["req"] for x in p.records() if x["type"] == "outcome"]
    equal(sorted(ends), sorted(intents), "one outcome an intent")


def opener_case():
    p, r = no_opener()
    equal((r.code, r.out), (126, b""), "%r" % r)
    one_line(r, "opener.timeout")
    denial = [x for x in p.records() if x["type"] == "denial"][-1]
    equal(denial["reasons"], ["opener.timeout"], "record")
    goes_on(p)


def collector_case():
    p, r = no_collector()
    check(r.code != 0 and b"collector.timeout" in r.err, "%r" % r)
    outcome = [x for x in p.records() if x["type"] == "outcome"][-1]
    equal((outcome["status"], outcome["phase"], outcome["failed"]["step"]),
          ("error", "collect", "collector.timeout"), "record")
    goes_on(p)


def death_case():
    """strace holds the program's end, as a sleep in the kernel would."""
    p = up()
    marker = uuid.uuid4().hex
    front = p.start("--timeout", "4", "--lang", "bash", "-c",
                    "echo up; sleep 2; exit 3", "--", marker)
    equal(os.read(front.stdout.fileno(), 3), b"up\n", "output")
    program = min(pid for pid in run_processes(marker) if pid != front.pid)
    trace = Strace(p, program, "exit_group")
    try:
        r = end(front)
        equal(run_processes(marker), [program], "what lives on")
        outcome = [x for x in p.records() if x["type"] == "outcome"][-1]
        equal((outcome["status"], outcome["killed_by"],
               outcome["failed"]["step"]),
              ("timeout", "wall", "kill.timeout"), "record")
        check("stdout" not in outcome and r.code == 125, "%r" % r)
        one_line(r, "kill.timeout")
        equal(p.bash("echo on").out, b"on\n", "next run")
    finally:
        trace.close()
    wait_for(lambda: not run_processes(marker), "its end", 10)
    goes_on(p)


CASES = [
    ("a launcher that stops is killed, and a new service takes over",
     launcher_case),
    ("a sandbox that is not built is given up, and its launcher goes on",
     clone_case),
    ("a pid 1 that does not confine its program is killed", init_case),
    ("a program that cannot be killed ends its run, without results",
     death_case),
    ("without the signer's word nothing runs, and the service ends",
     signer_case),
    ("an outcome that is not recorded is not told, and the service ends",
     outcome_case),
    ("an opener that does not answer is a denial", opener_case),
    ("a collector that does not answer fails the run, and no more",
     collector_case),
]


class Wait(threading.Thread):
    """One case, at work in a thread of its own."""

    def __init__(self, function):
        super().__init__()
        self.function, self.fault = function, None

    def run(self):
        try:
            self.function()
        except BaseException as fault:
            self.fault = fault

    def tell(self):
        self.join()
        if self.fault is not None:
            raise self.fault


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
    waits = []
    for name, function in CASES:
        if len(sys.argv) < 4 or sys.argv[3] in name:
            wait = Wait(function)
            wait.start()
            waits.append(wait)
            case(name)(wait.tell)
    # Cleaning up after a case reaches the places of all of them.
    for wait in waits:
        wait.join()
    main()
