"""The limits on Debian 12's stock kernel: 6.1, pure cgroup v2.

Run as: python3 test_vm_limits.py BUILD_DIR SOURCE_DIR.  See test_vm.py.
"""
import sys

import test_vm

test_vm.PLACE = "vm-limits"
test_vm.DEFAULT = ["service/test_limits.py"]

if __name__ == "__main__":
    sys.exit(test_vm.main())
