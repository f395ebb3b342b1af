"""What runtimes expect of a machine, and get in a sandbox: memory they only reserve, calls they try first, shared
memory, loopback, pairs of sockets, names, places and identity; and streams that pass byte for byte.

Run as: python3 test_quirks.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import hashlib
import json
import os
import subprocess

from lib import BAILIFF, PATIENCE_S, Place, Skip, call, case, check, equal, main, need_programs, need_root

need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
KNOWN = {one["name"]: one for one in json.loads(subprocess.run(
    [BAILIFF, "languages", "--json"], capture_output=True, timeout=PATIENCE_S, check=True).stdout)["languages"]}
MIB = 1 << 20


def place(*languages, limits=None, **capabilities):
    for name in languages:
        if not KNOWN[name]["available"]:
            raise Skip("%s: apt-get install %s" % (name, KNOWN[name]["package"]))
    return Place(languages={name: {"capabilities": capabilities} for name in languages}, limits=limits or {})


def says(p, language, code, out, *args, **more):
    """It ends well and prints exactly this."""
    r = p.run("--lang", language, "-c", code, *args, **more)
    equal((r.code, r.out, r.err), (0, out.encode() if isinstance(out, str) else out, b""), language)
    return r


@case("address space is no memory: 64 GiB are reserved under a limit of 128 MiB, and touched memory counts")
def _():
    p = place("python")
    says(p, "python", "import mmap, resource\nm = mmap.mmap(-1, 64 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE\nm[5 << 30] = 1\n"
         "print(resource.getrlimit(resource.RLIMIT_AS) == (resource.RLIM_INFINITY,) * 2)", "True\n", "--memory", "128")
    r = p.run("--memory", "64", "--lang", "python", "-c", "x = b'x' * (256 << 20)")
    equal(r.code, 137, r)


@case("calls that a runtime tries first answer that there is no such call, and it goes on")
def _():
    says(place("python"), "python", """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name, number in (("clone3", 435), ("io_uring_setup", 425), ("none", 9999)):
    ctypes.set_errno(0)
    print(name, libc.syscall(number, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
""", "clone3 -1 ENOSYS\nio_uring_setup -1 ENOSYS\nnone -1 ENOSYS\n")


@case("/dev/shm holds shared memory, named semaphores, locks and pools of processes, and starts empty")
def _():
    p = place("python", subprocess=True)
    code = """
import multiprocessing as m, os
from multiprocessing import shared_memory
print(os.listdir('/dev/shm'))
s = shared_memory.SharedMemory(create=True, size=4096)
s.buf[:3] = b'abc'
t = shared_memory.SharedMemory(s.name)
print(bytes(t.buf[:3]))
t.close()
open('/dev/shm/left', 'w').close()
def work(lock, n):
    with lock:
        n.value += 1
if __name__ == '__main__':
    lock, n = m.Lock(), m.Value('i', 0)
    ps = [m.Process(target=work, args=(lock, n)) for _ in range(4)]
    [x.start() for x in ps]; [x.join() for x in ps]
    print(n.value, m.Semaphore(2).acquire())
    s.close(); s.unlink()
    with m.Pool(2) as pool:
        print(pool.map(abs, [-1, -2, 3]))
"""
    for _ in range(2):
        says(p, "python", code, "[]\nb'abc'\n4 True\n[1, 2, 3]\n")


@case("loopback works with the network off: TCP, UDP, its names, nothing of another run; and can be off too")
def _():
    p = place("python")
    code = """
import socket, threading
s = socket.create_server(('127.0.0.1', 7393))
def serve():
    c, _ = s.accept(); c.sendall(c.recv(9).upper()); c.close()
t = threading.Thread(target=serve); t.start()
c = socket.create_connection(('localhost', 7393), 5); c.sendall(b'tcp'); print(c.recv(9)); t.join()
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in 'ab')
a.bind(('127.0.0.1', 0)); b.sendto(b'udp', a.getsockname()); print(a.recv(9))
print(socket.gethostbyname(socket.gethostname())[:4])
"""
    for _ in range(2):
        says(p, "python", code, "b'TCP'\nb'udp'\n127.\n")
    says(place("python", loopback=False), "python", """
import socket
try:
    socket.socket(socket.AF_INET)
except OSError as e:
    print(type(e).__name__)
a, b = socket.socketpair(); a.send(b'x'); print(b.recv(9))
""", "PermissionError\nb'x'\n")


@case("pairs of sockets, sockets by path and event loops work")
def _():
    says(place("python"), "python", """
import asyncio, os, socket
a, b = socket.socketpair()
r, w = os.pipe()
socket.send_fds(a, [b'f'], [w])
_, fds, _, _ = socket.recv_fds(b, 9, 1)
os.write(fds[0], b'passed'); print(os.read(r, 9))
async def main():
    async def serve(reader, writer):
        writer.write((await reader.readline()).upper()); await writer.drain(); writer.close()
    async with await asyncio.start_unix_server(serve, '/tmp/s'):
        reader, writer = await asyncio.open_unix_connection('/tmp/s')
        writer.write(b'unix\\n'); print(await reader.readline())
    print(await asyncio.to_thread(sum, [1, 2]), await asyncio.wait_for(asyncio.sleep(0, 'slept'), 5))
asyncio.run(main())
""", "b'passed'\nb'UNIX\\n'\n3 slept\n")


@case("names fail at once instead of after a timeout, in each way of asking")
def _():
    says(place("python"), "python", """
import socket, time, urllib.request
start = time.monotonic()
for ask in (lambda: socket.getaddrinfo('example.com', 80), lambda: socket.gethostbyname('a.invalid'),
            lambda: urllib.request.urlopen('http://example.com/')):
    try:
        print(ask())
    except OSError as e:
        print('no', end=' ')
print(time.monotonic() - start < 4)
""", "no no no True\n")


@case("home, temporary places, locale, zone and identity are there, and the host's are not")
def _():
    p = place("python")
    says(p, "python", """
import getpass, grp, locale, os, pwd, tempfile, time, zoneinfo, datetime
me = pwd.getpwuid(os.getuid())
print(os.getcwd(), os.environ['HOME'], os.path.expanduser('~'), me.pw_dir, os.environ['TMPDIR'], tempfile.gettempdir())
print(me.pw_name, getpass.getuser(), grp.getgrgid(os.getgid()).gr_name, os.getuid() == os.geteuid() != 0)
print(locale.setlocale(locale.LC_ALL, ''), locale.getpreferredencoding(), '\\u00e9')
print(time.tzname[0], datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())
for d in ('/sandbox', '/tmp', '/dev/shm'):
    with tempfile.NamedTemporaryFile(dir=d) as f:
        f.write(b'x')
print(sorted(n for n in os.environ if n.startswith('LC_') or n == 'LANG'), len(pwd.getpwall()) < 6)
""", "/sandbox /sandbox /sandbox /sandbox /tmp /tmp\nsandbox sandbox sandbox True\n"
         "C.UTF-8 %s \u00e9\nUTC 2:00:00\n['LANG'] True\n" % subprocess.run(
             ["/usr/bin/python3", "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); "
              "print(locale.getpreferredencoding(), end='')"], env={"LANG": "C.UTF-8"}, capture_output=True, text=True,
             timeout=PATIENCE_S, check=True).stdout, env={**os.environ, "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"})


@case("R has a temporary directory of its own, which starts empty")
def _():
    p = place("r")
    for _ in range(2):
        says(p, "r", "d <- tempdir()\ncat(dir.exists(d), startsWith(d, '/tmp/'), length(list.files(d)), '\\n')\n"
             "f <- tempfile(); writeLines('x', f); cat(readLines(f), '\\n')\n", "TRUE TRUE 0 \nx \n")


@case("node's workers fit the default number of processes")
def _():
    says(place("javascript"), "javascript", """
const { Worker } = require('worker_threads');
const all = [1, 2, 3, 4].map(n => new Promise((yes, no) => {
  const w = new Worker("const { parentPort, workerData: n } = require('worker_threads'); parentPort.postMessage(n * n)",
    { eval: true, workerData: n });
  w.on('message', yes); w.on('error', no);
}));
Promise.all(all).then(v => console.log(v.join(' ')));
""", "1 4 9 16\n")


@case("go builds offline from its own library, and a module that is not there is said so at once")
def _():
    p = place("go")
    says(p, "go", "package main\nimport (\"encoding/json\"; \"os\")\n"
         "func main() { json.NewEncoder(os.Stdout).Encode([]int{1, 2}) }\n", "[1,2]\n")
    r = p.run("--lang", "go", "-c", "package main\nimport \"github.com/google/uuid\"\nfunc main() { uuid.New() }\n")
    check(r.code == 1 and b"github.com/google/uuid" in r.err and b"dial" not in r.err, r)


@case("characters that come in pieces, NUL, controls and bytes that are no text pass unchanged")
def _():
    p = place("python")
    data = "\u00e9\u4e2d\U0001f600".encode() + bytes(range(256)) + b"\xc3\xff\xed\xa0\x80\0\r\n\x1b[31m"
    code = ("import os, sys, time\ndata = bytes.fromhex('%s')\nfor b in data:\n    os.write(1, bytes([b]))\n"
            "    os.write(2, bytes([b]))\n    if b > 250: time.sleep(0.002)\n" % data.hex())
    r = p.run("--lang", "python", "-c", code)
    equal((r.code, r.out, r.err), (0, data, data))
    r = p.json("--lang", "python", "-c", code)
    for name in ("stdout", "stderr"):
        run = call(p.words("result", r.json["run_id"], name))
        equal(run.out, data, "kept %s" % name)


@case("one line of 10 MiB passes in and out, and its digest is recorded")
def _():
    p = place("python", limits={"stdout": {"default": 16 * MIB, "max": 16 * MIB}})
    line = b"0123456789abcdef" * (10 * MIB // 16) + b"\n"
    r = p.run("--lang", "python", "-c", "import sys\nsys.stdout.write(sys.stdin.readline())", stdin=line)
    equal((r.code, len(r.out), r.out == line, r.err), (0, len(line), True, b""))
    outcome = [one for one in p.records() if one["type"] == "outcome"][-1]
    equal((outcome["stdout"]["sha256"], outcome["stdout"]["size"]), (hashlib.sha256(line).hexdigest(), len(line)))


@case("standard input: text, bytes, none, an end in mid line; who reads past it is told that it ended")
def _():
    p = place("python")
    show = "import sys\nprint(sys.stdin.buffer.read())\nprint(sys.stdin.buffer.read(), sys.stdin.isatty())"
    for data in (b"", b"\n", b"no newline", b"a\r\nb\n", b"\0\xff\x04\x1a", "\u00e9\n".encode(), b"x" * 70000):
        says(p, "python", show, "%r\nb'' False\n" % data, stdin=data)
    says(p, "python", show, "b''\nb'' False\n", stdin=None)
    says(p, "python", show, "b''\nb'' False\n", "--no-stdin", stdin=b"unread")
    says(p, "python", "print(input()); print(input())\ntry: input()\nexcept EOFError: print('end')", "a\nb\nend\n",
         stdin=b"a\nb")
    says(place("bash"), "bash", "read a; read b || echo \"end $b\"; cat; echo $a", "end half\none\n", stdin=b"one\nhalf")


main()
