#!/usr/bin/python3
"""The probes of the other files against a service without root.

    test_own.py BUILD_DIR SOURCE_DIR [part of a name]

The cases are those of test_probes.py, test_surface.py and test_lifecycle.py.
Here their place is the home of an ordinary account (tests/service/account.py)
and their policies are the preset "user" and a "strict" that accepts what is
missing; every run must name that in its result and in its record.  Cases of
memory need control groups: they run in one that was delegated to the account
(tests/service/delegated.py), where there is one.
"""
import os
import sys

import probe

import test_lifecycle
import test_probes
import test_surface
from account import Home, begin
from lib import main
from own_place import STRICT, OwnPlace, take_over

MODULES = (test_probes, test_surface, test_lifecycle)
# Without a group memory is bounded for each process, and only private memory.
GROUPED = ("RS-05 ",)

if os.uname().machine != "x86_64":
    print("skipped: system calls have the numbers of x86_64 here")
    sys.exit(77)
for module in MODULES + (probe,):
    module.STRICT = STRICT
take_over(MODULES, GROUPED)
begin()
OwnPlace.home = Home()
main()
