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
    Layer("uts-namespace", "N", "a host name of its own",
          (), 'print("name", os.uname().nodename)',
          r"name sandbox\n", r"name (?!sandbox\n)", "NS-16"),
    Layer("pid-namespace", "N", "process numbers of its own",
          (), 'print("few", os.getpid() < 10)',
          r"few True\n", r"few False\n", "LC-06"),
    Layer("cgroup-namespace", "N", "no group of the host by name",
          (), 'print("group", open("/proc/self/cgroup").read())',
          r"group (?s:.)*0::/\n", r"0::/.*bailiff/", "PR-14"),
    # The kernel takes no map for the namespace that we are in already, so
    # nothing runs: leaving it out cannot get any further than this.
    Layer("user-namespace", "N", "ids of its own, without which nothing runs",
          POSTURE, NOTHING,
          r"program setgroups deny\n",
          r"failed step=\w+ errno=1 text=.*(setgroups|_map)", "NS-11"),
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

# Neither left out nor by name of a row above, each for its reason;
# tests/structure compares both lists with the sources.
NOT_OMITTED = {
    "CLONE_NEWNS": "made twice, by the clone and with the user namespace; "
                   "either alone is a namespace of its own, and MT-03 shows "
                   "that its mounts are locked",
    "socket-limit": "of v1 alone, beside the memory limit: probe RS-05",
    "swap-limit": "this host has no swap to see it by; it is read back",
    "group-oom": "of v2 alone: limits, memory, a killed child",
}

# What the filter alone refuses: without it the kernel gives another answer.
BY_FILTER = (
    ("SC-10", "memory of others", "310, -1, 0, 0, 0, 0, 0"),
    ("SC-11", "descriptors of others", "438, -1, 0, 0"),
    ("SC-15", "userfaultfd", "323, 1"),
    ("SC-16", "io_uring", "425, 1, 0"),
    ("SC-21", "personality", "135, 0x40000"),
    ("SC-23", "descriptor tables", "154, 0, 0, 0"),
    ("SC-31", "seccomp", "317, 3, 0, 0"),
    ("SC-33", "a second Landlock ruleset", "444, 0, 0, 1"),
    ("SC-06", "a terminal call with high garbage", "16, 0, 0x100005412, 0"),
    ("SC-07", "typing into a terminal", "16, 0, 0x5412, 0"),
    ("SC-42", "dropping the host's cache", "221, 0, 0, 0, 4"),
    ("NS-02", "a namespace by clone", "56, 0x10000011, 0, 0, 0, 0"),
    ("NS-03", "clone3", "435, 0, 0"),
    ("NS-05", "setns", "308, -1, 0"),
    ("NS-22", "user dispatch", "157, 59, 7, 0, 0, 0"),
    ("NS-20", "speculation controls", "157, 52, 0, 0, 0, 0"),
    ("NW-08", "AF_VSOCK", "41, 40, 1, 0"),
    ("NW-09", "netlink", "41, 16, 3, 0"),
    ("NW-12", "MPTCP", "41, 2, 1, 262"),
    ("NW-07", "AF_ALG", "41, 38, 5, 0"),
    ("NW-24", "attaching a socket filter", "54, 0, 1, 26, 0, 0"),
    ("FD-08", "message queues", "240, 0, 66, 0, 0"),
    ("FD-14", "owners of namespaces", "16, os.open('/proc/self/ns/mnt', 0), "
                                      "0xb701, 0"),
    ("FD-18", "signals by descriptor", "72, 0, 8, 0"),
    ("MT-08", "handles of files", "303, -1, 0, 0, 0, 0"),
    ("MT-09", "asking for mounts", "457, 0, 0, 0, 0"),
    ("SC-34", "splicing", "275, -1, 0, -1, 0, 0, 0"),
    ("FS-22", "a whiteout left by a rename",
     "316, -100, b'/sandbox/n', -100, b'/sandbox/m', 4"),
)
LAYERS += [Layer("filter", "S", what, (), 'print("x", call(%s))' % args,
                 r"x (EPERM|ENOSYS)\n", r"x (?!EPERM\n|ENOSYS\n)\w+\n", row)
           for row, what, args in BY_FILTER]

# What missing capabilities refuse when the filter is gone (ENOSYS: a kernel
# without modules or kexec).
BY_CAPABILITIES = (
    ("MT-02", "a new file system", "430, b'tmpfs', 0"),
    ("NS-16", "the host's name", "170, b'x', 1"),
    ("NS-17", "the host's clock", "164, 0, 0"),
    ("SC-13", "programs of the kernel", "321, 0, ctypes.create_string_buffer("
                                        "b'\\2\\0\\0\\0\\4\\0\\0\\0\\4\\0\\0\\0"
                                        "\\1', 72), 72"),
    ("SC-24", "a new kernel", "246, 0, 0, 0, 0"),
    ("SC-25", "a restart, with numbers that restart nothing", "169, 0, 0, 0"),
    ("SC-27", "fanotify", "300, 4, 0"),
    ("SC-28", "real-time scheduling", "144, 0, 1, b'\\1\\0\\0\\0'"),
    ("DV-01", "a device file", "133, b'/tmp/n', 0o20666, 0x103"),
    ("NW-10", "raw packets", "41, 17, 3, 0"),
)
LAYERS += [Layer("filter", "C", what + ": missing capabilities hold alone", (),
                 'print("x", call(%s))' % args, r"x (EPERM|ENOSYS)\n",
                 r"x (EPERM|EACCES|ENOSYS)\n", row)
           for row, what, args in BY_CAPABILITIES]

LAYERS += [
    Layer("filter", "N", "becoming root: no such id is mapped", (),
          'print("x", call(105, 0))', "x EPERM", "x EINVAL", "NS-10"),
    Layer("filter", "N", "no signal to the host: nobody there to see", (),
          'print("x", attempt(os.kill, -1, 0))', "x ESRCH", "x ESRCH", "SB-10"),
    Layer("filter", "P", "the second exec by number finds nothing", (),
          'print("x", call(322, 4095, b"", None, None, 0x1000))',
          "x EBADF", "x EBADF", "SC-40"),
]
