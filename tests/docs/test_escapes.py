#!/usr/bin/python3
"""docs/escapes.md is made of the list of tests, and the list is whole.

    test_escapes.py BUILD_DIR SOURCE_DIR
"""
import os
import subprocess
import sys

done = subprocess.run([sys.executable, "-B",
                       os.path.join(sys.argv[2], "scripts", "escapes"),
                       "--check"], check=False)
sys.exit(done.returncode)
