#!/usr/bin/python3
"""Runs whose supervisor died between their record and their publication.

A folder as such a supervisor leaves it is made from a published one: without
receipts, in the staging directory of an instance that is gone.
"""
import os
import shutil
import subprocess

from lib import (Place, case, check, equal, main, need_programs, need_root)

SUPERVISOR = 1900000000
GONE = "0123456789abcdef0123456789abcdef"


def unpublish(p, run):
    """Back to where it was before its outcome was known to be durable."""
    staging = os.path.join(p.state, "results", ".staging", GONE)
    os.makedirs(staging, 0o700, exist_ok=True)
    os.chown(staging, SUPERVISOR, SUPERVISOR)
    there = os.path.join(staging, run)
    os.rename(os.path.join(p.state, "results", run), there)
    for name in ("record.dsse.json", "record.tlog-proof"):
        os.unlink(os.path.join(there, name))
    return there


def one_run(p, text="hello"):
    r = p.json("--lang", "bash", "-c", "echo %s; echo kept > f.txt" % text)
    return r.json["run_id"]


def folder(p, run):
    return os.path.join(p.state, "results", run)


def quarantine(p, run):
    return os.path.join(p.state, "results", ".quarantine", run)


@case("a whole folder that the log vouches for is published, with receipts")
def _():
    p = Place()
    runs = [one_run(p, "number%d" % i) for i in range(3)]
    p.stop()
    for run in runs[:2]:
        unpublish(p, run)
    equal(p.bash("echo on").code, 0, "the next run")
    for run in runs:
        check(os.path.exists(folder(p, run)), "%s is back" % run)
        equal(subprocess.run(
            ["sha256sum", "-c", "--strict", "--quiet", "MANIFEST"],
            cwd=folder(p, run)).returncode, 0, "MANIFEST")
        for name in os.listdir(folder(p, run)):
            equal(os.stat(os.path.join(folder(p, run), name)).st_uid,
                  SUPERVISOR, "owner of " + name)
        out = p.result(run, "stdout").out
        equal(out, b"number%d\n" % runs.index(run), "stdout")
    p.stop()
    r = p.verify()
    equal(r.code, 0, "verify: %r" % r)


@case("a changed file, a missing file, a foreign manifest stay in quarantine")
def _():
    p = Place()
    runs = [one_run(p) for i in range(4)]
    p.stop()
    changed, missing, swapped, whole = [unpublish(p, run) for run in runs]
    with open(os.path.join(changed, "stdout"), "r+b") as f:
        f.write(b"H")
    os.unlink(os.path.join(missing, "files", "f.txt"))
    # Whole in itself, but another run's.
    for name in ("stdout", "result.json", "MANIFEST", "code.sh"):
        shutil.copy2(os.path.join(whole, name), os.path.join(swapped, name))
    equal(p.bash("echo on").code, 0, "the next run")
    for run in runs[:3]:
        check(not os.path.exists(folder(p, run)), "%s is not shown" % run)
        check(os.path.exists(quarantine(p, run)), "%s is kept" % run)
        check(p.result(run).code != 0, "no result of %s" % run)
    check(os.path.exists(folder(p, runs[3])), "the whole one is back")


@case("folders without an outcome, and names that are no runs, stay")
def _():
    p = Place()
    run = one_run(p)
    p.stop()
    there = unpublish(p, run)
    unknown = "r_" + "0" * 32
    shutil.copytree(there, os.path.join(os.path.dirname(there), unknown))
    os.mkdir(os.path.join(os.path.dirname(there), "r_short"))
    os.symlink("/etc", os.path.join(os.path.dirname(there), "r_" + "1" * 32))
    equal(p.bash("echo on").code, 0, "the next run")
    check(os.path.exists(folder(p, run)), "the right one is back")
    check(not os.path.exists(folder(p, unknown)), "the unknown is not shown")
    check(not os.path.exists(os.path.dirname(there)), "staging is gone")
    equal(sorted(os.listdir(os.path.join(p.state, "results",
                                         ".quarantine"))),
          sorted([unknown, "r_short", "r_" + "1" * 32]), "quarantine")


@case("receipts half written by an earlier attempt are made again")
def _():
    p = Place()
    run = one_run(p)
    p.stop()
    there = unpublish(p, run)
    with open(os.path.join(there, "record.dsse.json"), "w") as f:
        f.write("{")
    os.symlink("/etc/passwd", os.path.join(there, "record.tlog-proof"))
    before = os.stat("/etc/passwd")
    equal(p.bash("echo on").code, 0, "the next run")
    equal(os.stat("/etc/passwd")[:7], before[:7], "the link's target")
    p.stop()
    r = p.verify()
    equal(r.code, 0, "verify: %r" % r)


@case("the staging of a supervisor that lives is left alone")
def _():
    p = Place()
    run = p.start("--lang", "bash", "-c", "echo up; sleep 3")
    os.read(run.stdout.fileno(), 3)
    staging = os.path.join(p.state, "results", ".staging")
    mine = [os.path.join(staging, i, r) for i in os.listdir(staging)
            for r in os.listdir(os.path.join(staging, i))]
    equal(len(mine), 1, "runs in staging")
    other = p.write_policy("other.json", name="other")
    equal(p.bash("echo 1", policy=other).code, 0,
          "another service of the same state")
    check(os.path.exists(mine[0]), "still in staging")
    run.communicate()
    equal(run.returncode, 0, "exit")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
    main()
