#!/usr/bin/python3
"""One run in the build tree named: 'ok', or the status and the step.

    one_run.py BUILD_DIR SOURCE_DIR
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

from lib import Place, clean  # noqa: E402

try:
    said = Place().json("--lang", "python", "-c", "print('ran')").json
    why = said.get("failed") or {}
    print("ok" if said["status"] == "ok" else "%s: step %s, %s" % (
        said["status"], why.get("step"), why.get("remedy")))
finally:
    clean()
