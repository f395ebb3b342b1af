"""What the probes of tests/escape share: hostile code, run by the real command.

Each case is named after its rows in the catalogue of escapes (catalogue.txt)
and asserts three things: what the program was told, that nothing happened
outside, and what the log says of this very run.  For rows of the filter that
includes the run's trace, whose digest the log has: it must tell each call that
denied.txt names as refused, with the error named there.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

from lib import after, check, equal, recorded, with_ctypes  # noqa: E402

STRICT = with_ctypes("strict.json")

# In front of every Python probe.  call() gives 'ok' or the name of an errno.
PRELUDE = r'''
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number),
                     *[ctypes.c_long(a) if isinstance(a, int) else a
                       for a in args])
    return "ok" if r >= 0 else errno.errorcode[ctypes.get_errno()]
def attempt(f, *args):
    try:
        f(*args)
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]
'''


def ask(place, code, *args, policy=None, status="ok", killer=None):
    """Run a probe; its output, after the log has been asked about the run."""
    lang = "bash" if code.startswith("#!") else "python"
    text = code if lang == "bash" else PRELUDE + code
    r = place.json("--lang", lang, *args, "-c", text, policy=policy).json
    equal((r["status"], r["killed_by"]), (status, killer),
          "end of %r" % (r["stdout"][-300:] + r["stderr"][-300:]))
    recorded(place, r)
    note_denials(place, r["run_id"])
    return r


class Told:
    """What the traces of one case tell as denied."""

    def __init__(self):
        self.denied, self.incomplete, self.traces, self.excused = set(), [], 0, set()


_told = [Told()]


def note_denials(place, run):
    """Without root there is no tracer, which the record says."""
    if place.own:
        return
    told = _told[0]
    with open(os.path.join(place.state, "results", run, "trace.jsonl"), encoding="utf-8") as f:
        trace = [json.loads(line) for line in f]
    told.traces += 1
    if not trace[-1]["complete"]:
        told.incomplete.append(trace[-1]["note"])
    for e in trace[1:-1]:
        if e["type"] not in ("denied", "killed") or e["plane"] == "setup":
            continue
        call = e.get("call", ("foreign#%d" if e["plane"] == "foreign" else "#%d") % e["nr"])
        is_kill = e["type"] == "killed" or e["ret"] == e["nr"]
        told.denied.add((call, "kill" if is_kill else e.get("error", "none")))


def excuse(row):
    """This host's kernel answered for the filter: nothing is told as denied."""
    _told[0].excused.add(row)


def denials():
    """(row, part of a case's name, calls that its traces must tell)"""
    with open(os.path.join(HERE, "denied.txt"), encoding="utf-8") as f:
        rows = [line.strip().split(" | ") for line in f if not line.startswith("#")]
    for row in rows:
        if not row[1].startswith("- "):
            yield row[0], row[2] if len(row) > 2 else row[0], {tuple(pair.split()) for pair in row[1].split(", ")}


@after
def denied_as_told(name):
    """The third assertion of the rows of the filter that a case is about."""
    told, _told[0] = _told[0], Told()
    for row, part, calls in denials():
        if told.traces == 0 or part not in name or row in told.excused:
            continue
        equal(told.incomplete, [], "traces that are not complete")
        near = sorted(d for d in told.denied if d[0] in {call for call, _ in calls})
        check(calls <= told.denied, "%s: %s not told as denied; told: %s" % (row, sorted(calls - told.denied), near))


def lines(r):
    """'name answer' a line, as a dictionary."""
    return dict(line.rsplit(" ", 1) for line in r["stdout"].splitlines())


def both(place):
    """The default preset and the strict one."""
    return (("default", None), ("strict", STRICT))
