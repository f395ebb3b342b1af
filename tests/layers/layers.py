"""The layers of confinement and the attempt that each alone refuses.

A row: what a build leaves out (executor/omit.h), letter of the layer in the
catalogue, options of launch_driver, code, what its output says while the layer
stands and what once it is gone.  Two names where a second layer has to be out
of the way for the first to be seen; the row above it then shows that the second
one holds alone.  {port}, {name} and {key} are made by the test on the host.
"""
from collections import namedtuple

Layer = namedtuple("Layer", "omit letter what options code stands gone service")

CALL = r'''
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if
                     isinstance(a, int) else a for a in args])
    return "ok" if r >= 0 else errno.errorcode[ctypes.get_errno()]
def attempt(f, *args):
    try:
        f(*args)
        return "ok"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
def until(f, most):
    n = 0
    try:
        while n < most:
            f()
            n += 1
    except OSError:
        pass
    return n
'''

FORKS = '''
def one():
    if os.fork() == 0:
        os.read(pipe[0], 1)
        os._exit(0)
pipe = os.pipe()
print("forked", until(one, 40), flush=True)
os._exit(0)
'''
POSTURE = ("-S",)
NOTHING = "pass"

# fmt: off
LAYERS = [
    Layer("session", "N", "a session of its own",
          (), 'print("leads", os.getsid(0) == os.getpid())',
          "leads True", "leads False", "NS-19"),
    Layer("descriptors", "P", "only its own descriptors",
          POSTURE, NOTHING,
          r"program fds 0 1 2 4094 4095\n", None, "FD-01"),
    Layer("limits", "G", "resource limits",
          ("-o", "20"), 'print("opened", until(lambda: os.dup(0), 400))',
          r"opened 17\n", r"opened 400\n", "FD-12"),
    Layer("signals", "P", "no signal blocked or ignored",
          POSTURE, NOTHING,
          r"program status SigBlk:\s+0{16}\n",
          r"program status SigBlk:\s+0*[1-9a-f]", "LC-07"),
    Layer("ids", "C", "a uid that is not pid 1's",
          (), 'print("code", attempt(os.chmod, "/sandbox/main", 0o666))',
          "code EPERM", "code ok", "NS-11"),
    Layer("capabilities", "C", "no capability: the proof of the ids refuses",
          POSTURE, NOTHING,
          r"program status CapBnd:\s+0{16}\n",
          r"step-failed step=ids .*became pid 1's uid", "NS-08"),
    Layer("capabilities,ids", "C", "no capability: both gone",
          POSTURE, NOTHING,
          r"program status CapBnd:\s+0{16}\n",
          r"program status CapBnd:\s+0*[1-9a-f]", "NS-08"),
    Layer("privileges", "C", "no new privileges: Landlock refuses",
          POSTURE, NOTHING,
          r"program status NoNewPrivs:\s+1\n",
          r"step-failed step=landlock errno=1 ", "NS-14"),
    Layer("privileges,landlock", "C", "no new privileges: the filter refuses",
          POSTURE, NOTHING,
          r"program status NoNewPrivs:\s+1\n",
          r"step-failed step=filter errno=13 ", "NS-14"),
    Layer("landlock", "L", "Landlock: nothing of /proc can be written",
          (), 'print("comm", attempt(os.open, "/proc/self/comm", 1))',
          "comm EACCES", "comm ok", "PR-11"),
    Layer("filter", "S", "the filter: keys",
          (), 'print("keys", call(250, 0, -3, 0))',
          "keys EPERM", "keys ok", "SC-12"),
    Layer("filter", "S", "the filter: inotify on the host's inodes",
          (), 'print("watch", call(294, 0))',
          "watch ENOSYS", "watch ok", "SC-41"),
    Layer("filter", "S", "the filter: tracing oneself",
          (), 'print("trace", call(101, 0, 0, 0, 0))',
          "trace EPERM", "trace ok", "SC-09"),
    Layer("filter", "N", "no further namespace: the limits hold alone",
          (), 'print("user", call(272, 0x10000000))',
          "user EPERM", "user ENOSPC", "NS-01"),
    Layer("filter,namespace-limits", "N", "no further namespace: both gone",
          (), 'print("user", call(272, 0x10000000))',
          "user EPERM", "user ok", "NS-01"),
    Layer("filter", "C", "no mount: missing capabilities hold alone",
          (), 'print("mount", call(165, b"x", b"/tmp", b"tmpfs", 0, None))',
          "mount EPERM", "mount EPERM", "MT-01"),
    Layer("filter,namespace-limits", "L", "no mount in a nested namespace: "
          "Landlock holds alone",
          (), 'call(272, 0x10020000)\n'
          'print("mount", call(165, b"x", b"/tmp", b"tmpfs", 0, None))',
          "mount EPERM", "mount EPERM", "FS-14"),
    Layer("filter,namespace-limits,landlock", "N", "no mount in a nested "
          "namespace: all gone",
          (), 'call(272, 0x10020000)\n'
          'print("mount", call(165, b"x", b"/tmp", b"tmpfs", 0, None))',
          "mount EPERM", "mount ok", "FS-14"),
    Layer("filter,namespace-limits,landlock", "N", "mounts of the view stay "
          "locked even for root of a nested namespace",
          (), 'call(272, 0x10020000)\n'
          'print("umount", call(166, b"/usr", 2), '
          'call(165, None, b"/usr", None, 0x1020, None))',
          "umount EPERM EPERM", "umount EINVAL EPERM", "MT-03"),
    Layer("filter,keyring", "P", "a session keyring of its own",
          (), 'print("key", libc.syscall(250, 0, -3, 0))',
          "key -1", r"key \d+", "SC-12"),
    Layer("filter", "N", "no SysV memory of the host: the namespace holds alone",
          (), 'print("shm", call(29, {key}, 0, 0))',
          "shm EPERM", "shm ENOENT", "FD-07"),
    Layer("filter,ipc-namespace", "N", "no SysV memory of the host: both gone",
          (), 'print("shm", call(29, {key}, 0, 0))',
          "shm EPERM", "shm ok", "FD-07"),
    Layer("net-namespace", "N", "no loopback of the host",
          (), 'import socket\n'
          'print("tcp", attempt(socket.socket().connect, '
          '("127.0.0.1", {port})))',
          "tcp ECONNREFUSED", "tcp ok", "NW-02"),
    Layer("net-namespace", "L", "no abstract socket of the host: Landlock holds "
          "alone",
          (), 'import socket\n'
          'print("abstract", attempt(socket.socket(1).connect, "\\0{name}"))',
          "abstract ECONNREFUSED", "abstract EPERM", "NW-03"),
    Layer("net-namespace,landlock-scope", "N", "no abstract socket of the host: "
          "both gone",
          (), 'import socket\n'
          'print("abstract", attempt(socket.socket(1).connect, "\\0{name}"))',
          "abstract ECONNREFUSED", "abstract ok", "NW-03"),
    Layer("proc-subset", "M", "of /proc only itself",
          (), 'print("proc", attempt(os.stat, "/proc/1"), '
          'attempt(os.stat, "/proc/meminfo"))',
          "proc ENOENT ENOENT", "proc ok ok", "PR-02"),
    Layer("view-read-only", "M", "the view is read-only",
          POSTURE, NOTHING,
          r"program mountinfo .* / / ro,", r"program mountinfo .* / / rw,",
          "MT-05"),
    Layer("tree-flags", "M", "no device and no set-id bit in the toolchain",
          POSTURE, NOTHING,
          r"program mountinfo .* /usr ro,nosuid,nodev",
          r"program mountinfo .* /usr ro,relatime", "MT-05"),
    Layer("tree-overlay", "M", "no host directory but as an overlay",
          POSTURE, NOTHING,
          r"program mountinfo .* /usr ro,.* - overlay ",
          r"program mountinfo .* /usr ro,.* - (?!overlay)", "MT-05"),
    Layer("tree-whiteout", "M", "a denied file is absent",
          ("-W", "usr/bin/cat"),
          'print("cat", attempt(os.stat, "/usr/bin/cat"))',
          "cat ENOENT", "cat ok", "MT-18"),
    Layer("scratch-flags", "M", "no device and no set-id bit in the scratch",
          POSTURE, NOTHING,
          r"program mountinfo .* /tmp rw,nosuid,nodev",
          r"program mountinfo .* /tmp rw,relatime", "DV-01"),
    Layer("scratch-noexec", "M", "no code from the scratch",
          ("-X",), 'f = os.open("/tmp/x", 66, 0o755)\nos.write(f, bytes(4096))\n'
          'print("map", call(9, 0, 4096, 5, 2, f, 0))',
          "map EPERM", "map ok", "SC-18"),
    Layer("cgroup-join", "G", "processes: RLIMIT_NPROC holds alone",
          ("-p", "16"), FORKS, r"forked 15\n", r"forked 17\n", "RS-02"),
    Layer("pids-limit", "G", "processes: RLIMIT_NPROC holds alone",
          ("-p", "16"), FORKS, r"forked 15\n", r"forked 17\n", "RS-02"),
    Layer("limits", "G", "processes: the group holds alone",
          ("-p", "16"), FORKS, r"forked 15\n", r"forked 15\n", "RS-02"),
    Layer("limits,pids-limit", "G", "processes: both gone",
          ("-p", "16"), FORKS, r"forked 15\n", r"forked 40\n", "RS-02"),
    Layer("memory-limit", "G", "the limit on memory",
          ("-m", str(48 << 20)), 'x = bytearray(96 << 20)\nprint("survived")',
          r"ended kind=2 value=9|ended kind=1 value=1", "survived", "RS-05"),
    Layer("init-capabilities", "C", "pid 1 without capabilities",
          POSTURE, NOTHING,
          r"init status CapPrm:\s+0{16}\n",
          r"init status CapPrm:\s+0*[1-9a-f]", "NS-08"),
    Layer("init-filter", "S", "pid 1 under its own filter",
          POSTURE, NOTHING,
          r"init status Seccomp:\s+2\n", r"init status Seccomp:\s+0\n",
          "NS-14"),
]
# fmt: on
