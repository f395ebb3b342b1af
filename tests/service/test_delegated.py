"""Without root, in a control group that was delegated to the account.

Run as: python3 test_delegated.py BUILD_DIR SOURCE_DIR [part of a name].

As whom is in account.py, in which groups in delegated.py.
"""
import json
import os
import re
import signal
import subprocess

import delegated
from account import (ALWAYS, INSTALL, POLICIES, WORDS, become, begin, called,
                     mine)
from delegated import PURE, TOPS, Delegated
from lib import PATIENCE_S, case, check, cmdline, equal, main, parent, wait_for

MIB = 1 << 20


def sleeping(n):
    """The processes that execute sleep, once there are 'n'."""
    found = [x for x in mine() if cmdline(x)[:1] == ["sleep"]]
    return found if len(found) == n else []


def end_of(h, limits, language, code, *words):
    with open(os.path.join(POLICIES, "user.json")) as f:
        policy = json.load(f)
    for key, value in limits.items():
        policy["limits"][key] = {"default": value, "max": value}
    return h.json("--policy", h.policy(limits=policy["limits"]), "--lang",
                  language, "-c", code, *words)


@case("what the group gives is not called missing, and is counted")
def _():
    h = Delegated()
    j = h.json("--lang", "bash", "-c", "sleep 0.2 & sleep 0.2; echo hi")
    equal((j["status"], j["degraded"]), ("ok", ALWAYS), "--json")
    check(j["use"]["memory_peak"] > 0 and j["use"]["pids_peak"] > 1,
          "use %r" % j["use"])
    outcome = h.outcome(j["run_id"])
    equal(outcome["degraded"], ALWAYS, "record")
    check(outcome["posture"]["steps"] > 0, "posture")
    equal(outcome["use"]["memory_peak"], j["use"]["memory_peak"], "record")
    h.stop()
    equal(h.call("audit", "verify").code, 0, "verify")
    h.end()


@case("ours are in bailiff/services, a run in a leaf, their starter where it was")
def _():
    h = Delegated()
    p = h.bash("echo up; sleep 1000", start=True)
    equal(p.stdout.readline(), b"up\n", "start")
    (sleep,) = wait_for(lambda: sleeping(1), "sleep")

    def groups(pid):
        with open("/proc/%d/cgroup" % pid) as f:
            lines = [line.rstrip("\n").split(":", 2) for line in f]
        wanted = ("", "memory", "pids") if not PURE else ("",)
        return {path for _, name, path in lines if name in wanted}

    (instance,) = h.instances()
    found = groups(sleep)
    check(all("/bailiff/%s/" % instance in path for path in found) and found,
          "run in %r" % found)
    for program in ("bailiff-supervisor", "bailiff-signer", "bailiff-syncer"):
        (pid,) = called(program)
        check(all(path.endswith("/bailiff/services") for path in groups(pid)),
              "%s in %r" % (program, groups(pid)))
    check(all(path.endswith("/start") for path in groups(p.pid)), "client")
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=PATIENCE_S)
    h.stop()
    equal(h.instances(), set(), "left over")
    h.end()


@case("memory is that of the whole tree, and the verdict is the kernel's")
def _():
    h = Delegated()
    hold = ("import os, time\n"
            "for i in range(3):\n"
            "  if os.fork() == 0:\n"
            "    x = bytearray(24 << 20); time.sleep(%d); os._exit(0)\n"
            "for i in range(3): os.wait()\nprint('fits')")
    j = end_of(h, {"memory": 64 * MIB}, "python", hold % 60)
    equal((j["status"], j["killed_by"]), ("memory", "memory"), "72 of 64 MiB")
    check(j["use"]["memory_peak"] <= 64 * MIB, "use %r" % j["use"])
    j = end_of(h, {"memory": 160 * MIB}, "python", hold % 0)
    equal((j["status"], j["stdout"]), ("ok", "fits\n"), "72 of 160 MiB")
    # Address space is no measure here.
    j = end_of(h, {"memory": 64 * MIB}, "python",
               "import mmap; mmap.mmap(-1, 256 << 20); print('fits')")
    equal((j["status"], j["stdout"]), ("ok", "fits\n"), "never touched")
    h.end()


@case("processes beyond the limit are refused and counted")
def _():
    h = Delegated()
    j = end_of(h, {"pids": 8}, "python",
               "import os, time\nn = 0\ntry:\n  while n < 50:\n"
               "    if os.fork() == 0:\n      time.sleep(60)\n"
               "    n += 1\nexcept OSError as e:\n  print(n, e.errno)")
    equal((j["status"], j["stdout"]), ("ok", "7 11\n"), "forks")
    check("limit.pids.reached" in h.outcome(j["run_id"])["viol"],
          "viol %r" % h.outcome(j["run_id"])["viol"])
    h.end()


@case("cpu time is that of the whole tree, orphans as well; nothing lives on")
def _():
    h = Delegated()
    j = end_of(h, {"cpu_ms": 600}, "bash",
               "(setsid bash -c 'while :; do :; done' &);"
               "(setsid bash -c 'while :; do :; done' &); sleep 1000")
    equal((j["status"], j["killed_by"]), ("timeout", "cpu"), "cpu")
    check(j["use"]["cpu_us"] >= 600000, "use %r" % j["use"])
    j = h.json("--timeout", "1", "--lang", "bash", "-c",
               "sleep 1000 & (setsid sleep 1000 &); sleep 1000")
    equal((j["status"], j["killed_by"]), ("timeout", "wall"), "wall")
    equal([p for p in mine() if cmdline(p)[:1] in (["sleep"], ["bash"])], [],
          "left over")
    h.end()


@case("groups of a service that was killed are swept by the next, others stay")
def _():
    h = Delegated()
    h.bash("true")
    (first,) = h.instances()
    other = h.policy(name="other")
    equal(h.run("--policy", other, "--lang", "bash", "-c", "echo o").out,
          b"o\n", "a second service")
    (second,) = h.instances() - {first}
    p = h.bash("echo up; (setsid sleep 1000 &); sleep 1000", start=True)
    equal(p.stdout.readline(), b"up\n", "start")
    wait_for(lambda: sleeping(2), "sleep")
    (victim,) = [x for x in called("bailiff-launch")
                 if h_instance(x) == first and
                 parent(x) not in called("bailiff-launch")]
    os.kill(victim, signal.SIGKILL)
    p.communicate(timeout=PATIENCE_S)
    wait_for(lambda: not any(cmdline(x)[:1] == ["sleep"] for x in mine()),
             "the end of the run")
    equal(h.bash("echo again").out, b"again\n", "a third service")
    check(first not in h.instances(), "not swept")
    check(second in h.instances(), "swept alive")
    equal(h.run("--policy", other, "--lang", "bash", "-c", "echo o").out,
          b"o\n", "the second service")
    h.end()


def h_instance(pid):
    """The instance whose group a launcher holds locked."""
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            path = os.readlink("/proc/%d/fd/%s" % (pid, fd))
        except FileNotFoundError:
            continue
        if re.fullmatch(".*/bailiff/[0-9a-f]{32}", path):
            return path.rsplit("/", 1)[1]
    return None


@case("a service that a service manager started in the group moves beneath it")
def _():
    h = Delegated(inside="")
    state, path = os.path.join(h.dir, "state"), h.policy()
    enter = h.become

    def arrange():
        enter()
        os.setsid()
        os.dup2(write, 3)

    ready, write = os.pipe()
    service = subprocess.Popen(
        [os.path.join(INSTALL, "libexec", "bailiff", "bailiff-supervisor"),
         "--policy", path, "--state", state, "--home", h.dir],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/", env={},
        stderr=subprocess.DEVNULL, pass_fds=[3], preexec_fn=arrange)
    os.close(write)
    with os.fdopen(ready) as f:
        equal(f.readline(), "ready\n", "start")
    h.become = become()  # whoever asks is elsewhere
    j = h.json("--policy", path, "--state", state, "--lang", "bash", "-c",
               "echo hi")
    equal((j["status"], j["degraded"]), ("ok", ALWAYS), "run")
    check(j["use"]["memory_peak"] > 0, "use %r" % j["use"])
    for group in h.groups:
        with open(group + "/cgroup.procs") as f:
            equal(f.read(), "", "left in " + group)
    os.kill(service.pid, signal.SIGTERM)
    equal(service.wait(PATIENCE_S), 0, "end")
    h.end()


@case("a group that others are in, or a part of what it takes, is no use")
def _():
    if PURE:
        h = Delegated(inside="")  # the client itself is in the way
    else:
        h = Delegated(tops_given=TOPS[:-1], inside="")
    j = h.json("--lang", "bash", "-c", "echo hi")
    equal((j["status"], j["degraded"]), ("ok", WORDS), "words")
    equal(h.instances(), set(), "groups")
    h.end()


@case("a policy that refuses is told what is missing still, and no more")
def _():
    h = Delegated()
    for policy in (os.path.join(POLICIES, "default.json"),
                   h.policy(degraded="refuse")):
        r = h.run("--policy", policy, "--lang", "bash", "-c", "echo ran")
        equal((r.code, r.out, r.err.count(b"\n")), (125, b"", 1), policy)
        for word in WORDS:
            equal(word.encode() in r.err, word in ALWAYS, "%s: %r" % (word, r))
    wait_for(lambda: not mine(), "the end of everything of ours")
    check(not os.path.exists(h.state + "/audit"), "a log was made")
    h.end()


delegated.begin()
begin()
main()
