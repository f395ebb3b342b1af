"""Services without root on Debian 12's stock kernel: 6.1, pure cgroup v2, with a
group that was delegated to their account.

Run as: python3 test_vm_delegated.py BUILD_DIR SOURCE_DIR.  See test_vm.py.
"""
import sys

import test_vm

test_vm.PLACE = "vm-delegated"
test_vm.DEFAULT = ["service/test_delegated.py"]

if __name__ == "__main__":
    sys.exit(test_vm.main())
