"""What the probes of tests/escape share: hostile code, run by the real command.

Each case is named after its rows in the catalogue of escapes (catalogue.txt)
and asserts three things: what the program was told, that nothing happened
outside, and what the log says of this very run.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

from lib import equal, recorded, with_ctypes  # noqa: E402

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
    return r


def lines(r):
    """'name answer' a line, as a dictionary."""
    return dict(line.rsplit(" ", 1) for line in r["stdout"].splitlines())


def both(place):
    """The default preset and the strict one."""
    return (("default", None), ("strict", STRICT))
