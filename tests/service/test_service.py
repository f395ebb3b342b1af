"""The service model: discovery, one winner, STALE, linger, stop, separation.

Run as: python3 test_service.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import json
import os
import shutil
import select
import signal
import subprocess

from lib import (BAILIFF, BUILD, PATIENCE_S, Place, call, case,
                 cgroup_directories, cgroup_of, check, cmdline, equal,
                 instance_processes, instances_of, main, marked_mounts, need_programs, need_root,
                 one_line, parent, program_uids, read, recorded, run_directory,
                 status, wait_for)

SLEEP = ["--lang", "bash", "-c", "echo up; sleep 1000"]


def wait_up(started):
    ready, _, _ = select.select([started.stdout], [], [], PATIENCE_S)
    check(ready, "the run did not come up")
    got = os.read(started.stdout.fileno(), 3)
    if got != b"up\n":
        raise AssertionError("%r %r" % (got, started.communicate()))


def end(started, code=130):
    started.send_signal(signal.SIGINT)
    equal(started.wait(PATIENCE_S), code, "exit of the run")
    started.stdout.close()
    started.stderr.close()


@case("x=$(bailiff run) returns at once while the service stays")
def _():
    p = Place()
    line = " ".join("'%s'" % w for w in p.words(
        "run", "--lang", "bash", "-c", "echo hi"))
    r = call(["/bin/bash", "-c", 'x=$(%s 2>&1); echo "<$x>"' % line])
    equal(r.out, b"<hi>\n", "output")
    equal(len(p.supervisors()), 1, "supervisors")
    check(r.seconds < 45, "took %.1f s: less than the linger" % r.seconds)


@case("the second command finds the service of the first")
def _():
    p = Place()
    p.bash("true")
    first = p.supervisors()
    p.bash("true")
    equal(p.supervisors(), first, "supervisor")


@case("twenty commands at once on an empty state share one service")
def _():
    p = Place()
    started = [p.start("--lang", "bash", "-c", "echo %d" % i)
               for i in range(20)]
    for i, s in enumerate(started):
        out, err = s.communicate(timeout=PATIENCE_S)
        equal((s.returncode, out, err), (0, b"%d\n" % i, b""),
              "command %d" % i)
    equal((len(p.supervisors()), len(p.launchers()), len(p.signers())),
          (1, 1, 1), "supervisors, launchers, signers")
    kinds = [r["type"] for r in p.records()]
    equal((kinds.count("log.open"), kinds.count("intent"),
           kinds.count("outcome")), (1, 20, 20), "records")
    p.stop()
    equal(p.verify().code, 0, "verify")


@case("the service survives its starter's process group")
def _():
    p = Place()
    started = p.start(*SLEEP, start_new_session=True)
    wait_up(started)
    service = p.supervisors() + p.launchers() + p.signers()
    equal(len(service), 3, "service processes")
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    wait_for(lambda: p.records()[-1]["type"] == "outcome", "the outcome")
    equal(p.bash("echo on").out, b"on\n", "next run")
    equal(p.supervisors() + p.launchers() + p.signers(), service, "service")
    for pid in service:
        check(os.getsid(pid) != os.getsid(0) and
              os.getsid(pid) != started.pid, "session of %d" % pid)


@case("the service inherits nothing of its starter")
def _():
    p = Place()
    held = os.open(p.write("held", ""), os.O_RDONLY)
    os.set_inheritable(held, True)
    p.bash("true", env=dict(os.environ, SECRET="x"), cwd=p.dir,
           pass_fds=[held], umask=0)
    os.close(held)
    own = instances_of(os.getpid())
    for pid in p.supervisors() + p.launchers() + p.signers():
        equal(read("/proc/%d/environ" % pid), b"", "environment")
        equal(os.readlink("/proc/%d/cwd" % pid), "/", "directory")
        # The launcher makes the nodes of the view with exact modes.
        if pid not in p.launchers():
            equal(status(pid)["Umask"], "0077", "umask")
        for fd in os.listdir("/proc/%d/fd" % pid):
            link = os.readlink("/proc/%d/fd/%s" % (pid, fd))
            check(not link.startswith(p.dir) or
                  link.startswith(p.state) or link == p.policy,
                  "%d holds %s" % (pid, link))
        check(not instances_of(pid) & own, "cgroup of the starter")


@case("programs, policy and state that only root can reach are enough")
def _():
    p = Place()
    os.chmod(p.dir, 0o700)
    for part in ("bin", "libexec", "share"):
        shutil.copytree(os.path.join(BUILD, part), p.path(part))
    again = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                 stderr=subprocess.STDOUT)
    for i in range(2):
        r = subprocess.run([p.path("bin/bailiff"), "run", "--policy", p.policy,
                            "--state", p.state, "--lang", "bash", "-c",
                            "echo reached; echo kept > file"], **again)
        equal((r.returncode, r.stdout), (0, b"reached\n"), "run %d" % i)
    r = subprocess.run([p.path("bin/bailiff"), "audit", "verify", p.state,
                        "--results"], **again)
    equal(r.returncode, 0, "verdict")
    # Its programs are found by their place, which is not that of the others.
    subprocess.run([p.path("bin/bailiff"), "stop", "--state", p.state], **again)


@case("two policies and two state directories at once do not collide")
def _():
    a, b = Place(), Place()
    second = a.write_policy("second.json", name="second")
    before = set(program_uids())
    runs = [a.start(*SLEEP), b.start(*SLEEP),
            subprocess.Popen(a.words("run", *SLEEP, policy=second),
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE),
            a.start(*SLEEP)]
    for started in runs:
        wait_up(started)
    equal((len(a.supervisors()), len(b.supervisors())), (2, 1), "supervisors")
    equal((len(a.signers()), len(b.signers())), (1, 1), "signers")
    shells = [pid for pid in program_uids()
              if pid not in before and cmdline(pid)[:1] == ["bash"]]
    mine = [pid for pid in shells
            if parent(parent(pid)) in a.launchers() + b.launchers()]
    equal(len(mine), 4, "programs of ours")
    uids = {program_uids()[pid] for pid in mine}
    groups = {cgroup_of(pid) for pid in mine}
    equal((len(uids), len(groups)), (4, 4), "uids and cgroups")
    equal(len({g.split("/")[1] for g in groups}), 3, "instances")
    for started in runs:
        end(started)
    equal(len([r for r in a.records() if r["type"] == "outcome"]), 3,
          "outcomes in the shared log")
    a.stop()
    b.stop()
    for p in (a, b):
        equal(p.verify().code, 0, "verify")


@case("a changed policy decides the next command")
def _():
    p = Place()
    equal(p.bash("true", "--timeout", "20").code, 0, "before")
    p.write_policy("policy.json", limits={"wall_ms": {"default": 1000,
                                                      "max": 2000}})
    r = p.bash("true", "--timeout", "20")
    equal(r.code, 126, "after")
    one_line(r, "limit.wall.above_max")


@case("a touched source makes the service stale: a successor starts")
def _():
    p = Place()
    p.bash("true")
    first = p.supervisors()
    os.utime(p.policy, (1, 1))
    equal(p.bash("echo on").out, b"on\n", "run")
    second = p.supervisors()
    check(second and not set(first) & set(second) or
          wait_for(lambda: not set(first) & set(p.supervisors()),
                   "the end of the stale one"), "successor")


@case("a stale service ends its run before it goes")
def _():
    p = Place()
    started = p.start("--lang", "bash", "-c",
                      "echo up; sleep 3; echo done")
    wait_up(started)
    first = p.supervisors()
    os.utime(p.policy, (2, 2))
    equal(p.bash("echo new").out, b"new\n", "new run")
    out, err = started.communicate(timeout=PATIENCE_S)
    equal((started.returncode, out), (0, b"done\n"), "old run")
    wait_for(lambda: not set(first) & set(p.supervisors()),
             "the end of the stale one")


@case("linger 0 ends the service with its last client, linger counts from it")
def _():
    p = Place(service={"linger_s": 0})
    for i in range(3):
        equal(p.bash("echo %d" % i).out, b"%d\n" % i, "run")
    wait_for(lambda: not p.supervisors() and not p.launchers(), "the end")
    wait_for(lambda: not p.signers(), "the signer's end")
    equal(p.verify().code, 0, "verify")
    p = Place(service={"linger_s": 1})
    r = p.bash("sleep 4; echo late")
    equal((r.code, r.out), (0, b"late\n"), "a run longer than the linger")
    wait_for(lambda: not p.supervisors(), "the end")


@case("ten commands at once with linger 0 all succeed")
def _():
    p = Place(service={"linger_s": 0})
    started = [p.start("--json", "--lang", "bash", "-c", "echo %d; echo >/tmp/%d; ls /tmp" % (i, i))
               for i in range(10)]
    runs = set()
    for i, s in enumerate(started):
        out, err = s.communicate(timeout=PATIENCE_S)
        equal((s.returncode, err), (0, b""), "command %d" % i)
        r = json.loads(out)
        equal(r["stdout"], "%d\n%d\n" % (i, i), "command %d, with a scratch of its own" % i)
        recorded(p, r)
        runs.add(r["run_id"])
    equal(len(runs), 10, "numbers")


@case("stop ends everything and leaves nothing")
def _():
    p = Place()
    started = p.start(*SLEEP)
    wait_up(started)
    inside = [pid for pid in program_uids()
              if parent(parent(pid)) in p.launchers()]
    instances = instances_of(*inside)
    equal(len(instances), 1, "instance cgroup")
    end(started)
    equal(p.stop().code, 0, "stop")
    wait_for(lambda: not p.supervisors() and not p.launchers() and
             not p.signers(), "the end of all", 30)
    equal(instance_processes(instances), [], "members of its cgroups")
    equal(marked_mounts(p.dir, run_directory(p.state), *instances), [],
          "mounts")
    equal(p.stop().code, 0, "stop again")
    equal(p.verify().code, 0, "verify")
    # Its last process stood in the empty directory; any start sweeps it.
    other = Place()
    other.bash("true")
    wait_for(lambda: not cgroup_directories(instances), "the sweep", 30)


@case("stop in mid-run cancels it, and the record says so")
def _():
    p = Place()
    started = p.start(*SLEEP)
    wait_up(started)
    r = p.stop()
    equal(r.code, 0, "stop")
    check(b"1 run" in r.err, "said: %r" % r.err)
    check(started.wait(PATIENCE_S) != 0, "exit")
    last = [x for x in p.records() if x["type"] == "outcome"][-1]
    equal(last["status"], "cancelled", "status")
    equal(p.verify().code, 0, "verify")


@case("stop --policy ends only that service")
def _():
    p = Place()
    second = p.write_policy("second.json", name="second")
    p.bash("true")
    first = p.supervisors()
    p.bash("true", policy=second)
    equal(p.stop("--policy", second).code, 0, "stop")
    wait_for(lambda: p.supervisors() == first, "the second's end")


@case("a foreign no_new_privs or a low descriptor limit is refused in a line")
def _():
    for wrap, word in ((["setpriv", "--no-new-privs"], "no_new_privs"),
                       (["prlimit", "--nofile=1024:1024"], "NOFILE")):
        p = Place()
        r = call(wrap + p.words("run", "--lang", "bash", "-c", "echo ran"))
        equal((r.code, r.out), (125, b""), word)
        one_line(r)
        check(word.lower() in r.err.decode().lower() or
              word.replace("_", " ") in r.err.decode().lower(), r.err)
        wait_for(lambda: not p.supervisors(), "its end", 30)


@case("another account cannot reach an embedded service")
def _():
    p = Place()
    p.bash("true")
    run = run_directory(p.state)
    st = os.stat(run)
    equal((st.st_uid, st.st_mode & 0o7777), (0, 0o700), "RUN")
    sockets = [f for f in os.listdir(run) if f.endswith(".sock")]
    check(len(sockets) >= 1, "sockets")
    for name in sockets:
        equal(os.stat(os.path.join(run, name)).st_mode & 0o077, 0, name)
    st = os.stat(p.state)
    equal(st.st_mode & 0o022, 0, "STATE")
    keys = os.path.join(p.state, "keys")
    equal(os.stat(keys).st_mode & 0o077, 0, "keys")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
    main()
