"""The limits without root: the cases of test_limits.py, as an ordinary account.

Run as: python3 own_limits.py BUILD_DIR SOURCE_DIR [part of a name].

Those that need control groups run in one that was delegated to the account.
"""
import lib
import test_limits
from account import Home, begin
from lib import main
from own_place import OwnPlace, take_over

# An account cannot mount the v2 tree that such a host lacks.
lib._cases[:] = [c for c in lib._cases if not c[0].startswith("a host with v1")]
take_over((test_limits,), ("memory:", "cpu: four", "pids:", "after all"))
begin()
OwnPlace.home = Home()
main()
