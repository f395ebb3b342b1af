"""A host that makes no namespaces: closed_host.py WORD... runs a command in a user namespace of its own, as its root,
where user.max_user_namespaces, which each user namespace has for itself (user_namespaces(7)), is 0."""
import ctypes
import os
import sys

CLONE_NEWUSER = 0x10000000


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        if libc.unshare(CLONE_NEWUSER) != 0:
            os._exit(99)
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        with open("/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as f:
            f.write("0")
        os.execv(sys.argv[1], sys.argv[1:])
    os.close(ready[1])
    if os.read(ready[0], 1) == b"x":
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{name}", "w", encoding="ascii") as f:
                f.write("0 0 4294967295")
        os.write(go[1], b"x")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


main()
