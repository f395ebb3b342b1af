#!/usr/bin/python3
"""Denied modules are absent, and the overlay that hides them holds.

    test_modules.py BUILD_DIR SOURCE_DIR [part of a name]

Every way to a module that Python offers is tried; the log must say of each run
what the reply says.  What the code brings along itself is code and runs: then
the capabilities stop its effect, and the test says so.
"""
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

from lib import (BUILD, LIBEXEC, Place, case, check, equal,  # noqa: E402
                 main, need_programs, need_root, recorded)

PRESETS = os.path.join(BUILD, "share", "bailiff", "policies")
CHECK = os.path.join(LIBEXEC, "bailiff-policy")
# The versions and places that this host has; asked of the host's own Python.
LIBRARY = subprocess.run(
    ["/usr/bin/python3", "-c", "import os; print(os.path.dirname(os.__file__))"],
    capture_output=True, text=True, check=True).stdout.strip()

PRELUDE = r'''
import os, sys
def attempt(name, f):
    try:
        f()
        print(name, "works")
    except BaseException as e:
        print(name, type(e).__name__, getattr(e, "errno", None) or "")
'''


def python(place, code, *args, status="ok", **more):
    code = PRELUDE + code
    # One word of a command has at most 128 KiB.
    source = ["-c", code] if len(code) < 100000 else [
        place.write("long.py", code)]
    r = place.json("--lang", "python", *args, *source, **more).json
    equal(r["status"], status, r["stdout"] + r["stderr"])
    recorded(place, r)
    return r["stdout"].splitlines()


def denying(*names, **more):
    return Place(languages={"python": {"modules": {"deny": list(names)},
                                       **more}})


def host_files():
    """Names, sizes and times of the host's toolchain that we hide parts of."""
    found = {}
    for name in sorted(os.listdir(LIBRARY)):
        st = os.lstat(os.path.join(LIBRARY, name))
        found[name] = (st.st_mode, st.st_size, st.st_mtime_ns)
    return found


def all_say(lines, word):
    wrong = [line for line in lines if line.split()[1] != word]
    check(lines and not wrong, "not %s: %r of %r" % (word, wrong, lines))


@case("no way of importing finds a denied module")
def every_import():
    before = host_files()
    p = denying("ctypes", "decimal", "queue")
    lines = python(p, r'''
import importlib, importlib.util, importlib.machinery, pkgutil, runpy
for name in ("ctypes", "_ctypes", "ctypes.util", "decimal", "_decimal",
             "queue", "_queue"):
    attempt("import", lambda: exec("import " + name))
    attempt("from", lambda: exec("from %s import *" % name))
    attempt("__import__", lambda: __import__("".join(reversed(name[::-1]))))
    attempt("importlib", lambda: importlib.import_module(name))
    attempt("runpy", lambda: runpy.run_module(name))
    attempt("reload", lambda: importlib.reload(importlib.import_module(name)))
''')
    wrong = [line for line in lines
             if line.split()[1] not in ("ModuleNotFoundError", "ImportError")]
    equal(wrong, [], "got in")
    lines = python(p, r'''
import importlib.util, importlib.machinery, pkgutil
for name in ("ctypes", "_ctypes", "decimal", "queue"):
    print(importlib.util.find_spec(name),
          importlib.machinery.PathFinder.find_spec(name),
          name in [m.name for m in pkgutil.iter_modules()],
          name in sys.modules)
''')
    equal(lines, ["None None False False"] * 4, "finders")
    equal(host_files(), before, "the host's library")


@case("tricks with sys.modules, finders and caches bring nothing back")
def tricks():
    p = denying("ctypes", "queue")
    lines = python(p, r'''
import importlib, importlib.machinery as m, importlib.util
sys.modules.pop("ctypes", None)
attempt("popped", lambda: __import__("ctypes"))
importlib.invalidate_caches(); sys.path_importer_cache.clear()
attempt("cleared", lambda: __import__("ctypes"))
sys.path[:0] = ["/usr/lib", "/usr/lib/../lib/python3.11", "/lib/python3.11",
                LIBRARY, LIBRARY + "/lib-dynload", "/usr/lib/./python3.11"]
attempt("path", lambda: __import__("ctypes"))
attempt("path", lambda: __import__("_ctypes"))
def load(loader, name, path):
    spec = importlib.util.spec_from_loader(name, loader(name, path))
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
attempt("source", lambda: load(m.SourceFileLoader, "ctypes",
                               LIBRARY + "/ctypes/__init__.py"))
attempt("pyc", lambda: load(m.SourcelessFileLoader, "queue", LIBRARY +
        "/__pycache__/queue.%s.pyc" % sys.implementation.cache_tag))
attempt("pyc", lambda: load(m.SourcelessFileLoader, "ctypes", LIBRARY +
        "/ctypes/__pycache__/__init__.%s.pyc" % sys.implementation.cache_tag))
import sysconfig
suffix = sysconfig.get_config_var("EXT_SUFFIX")
spec = importlib.util.spec_from_file_location("_ctypes",
    LIBRARY + "/lib-dynload/_ctypes" + suffix)
attempt("dlopen", lambda: importlib.util.module_from_spec(spec))
'''.replace("LIBRARY", repr(LIBRARY)))
    wrong = [line for line in lines if line.split()[1] == "works"]
    equal((wrong, len(lines)), ([], 8), lines)


@case("other interpreters see the same: -m, a child, bash, an older name")
def children():
    p = denying("ctypes")
    lines = python(p, r'''
import subprocess
for words in (["python3", "-m", "ctypes.util"], ["python3", "-c", "import ctypes"],
              ["python3", "-I", "-S", "-c", "import _ctypes"],
              ["python3", "-E", "-X", "importtime", "-c", "import ctypes"],
              [sys.executable, "-c", "import ctypes"]):
    r = subprocess.run(words, capture_output=True, text=True)
    print(r.returncode, "ok" if "No module named" in r.stderr else r.stderr)
''')
    equal(lines, ["1 ok"] * 5, "children")
    r = p.json("--lang", "bash", "-c", "python3 -c 'import ctypes'").json
    check("No module named 'ctypes'" in r["stderr"], r)


@case("hidden files are ENOENT and in no listing; beside them nothing changed")
def listings():
    p = denying("ctypes", "queue", "xml.etree")
    lines = python(p, r'''
import glob
D = LIBRARY
for name in ("/ctypes", "/ctypes/__init__.py", "/queue.py", "/xml/etree",
             "/xml/etree/ElementTree.py"):
    attempt("stat", lambda: os.stat(D + name))
    attempt("lstat", lambda: os.lstat(D + name))
    attempt("open", lambda: open(D + name))
    attempt("readlink", lambda: os.readlink(D + name))
print([n for n in os.listdir(D) if n in ("ctypes", "queue.py")],
      [n.name for n in os.scandir(D + "/lib-dynload") if "_ctypes." in n.name],
      [n for n in os.listdir(D + "/__pycache__") if n.startswith("queue.")],
      glob.glob(D + "/**/ctypes", recursive=True), os.listdir(D + "/xml"))
import xml.dom, json
'''.replace("LIBRARY", repr(LIBRARY)))
    equal([line.split()[1:] for line in lines[:-1]],
          [["FileNotFoundError", "2"]] * 20, "errors")
    want = [n for n in os.listdir(LIBRARY + "/xml") if n != "etree"]
    head, _, rest = lines[-1].rpartition("[")
    equal(head, "[] [] [] [] ", "listings")
    check(sorted(eval("[" + rest)) == sorted(want), (rest, want))


@case("a place of the name cannot be made: no write through the overlay")
def no_write():
    p = denying("ctypes")
    lines = python(p, r'''
D = LIBRARY
def write(path):
    with open(path, "w"):
        pass
attempt("mkdir", lambda: os.mkdir(D + "/ctypes"))
attempt("create", lambda: write(D + "/ctypes.py"))
attempt("append", lambda: open(D + "/os.py", "a"))
attempt("remove", lambda: os.remove(D + "/os.py"))
attempt("rename", lambda: os.rename(D + "/os.py", D + "/x.py"))
attempt("rmdir", lambda: os.rmdir(D + "/json"))
attempt("symlink", lambda: os.symlink("/sandbox", D + "/ctypes"))
attempt("link", lambda: os.link("/sandbox/main.py", D + "/ctypes.py"))
attempt("truncate", lambda: os.truncate(D + "/os.py", 0))
attempt("chmod", lambda: os.chmod(D + "/os.py", 0o777))
attempt("utime", lambda: os.utime(D + "/os.py"))
attempt("setxattr", lambda: os.setxattr(D + "/os.py", "user.x", b"x"))
attempt("mknod", lambda: os.mknod(D + "/ctypes", 0o600 | 0o100000))
attempt("unlink", lambda: os.unlink(D + "/ctypes"))
'''.replace("LIBRARY", repr(LIBRARY)))
    wrong = [line for line in lines if line.split()[1] == "works"]
    equal((wrong, len(lines)), ([], 14), lines)
    check(os.path.isdir(LIBRARY + "/ctypes"), "the host lost its module")


@case("an empty directory of the name imports as a namespace package only "
      "where code made one itself")
def namespace():
    """The trap of an empty mask: it would import.  A directory in /sandbox
    does, as the program's own, and holds nothing."""
    p = denying("ctypes")
    lines = python(p, r'''
attempt("absent", lambda: __import__("ctypes"))
os.mkdir("/sandbox/ctypes")
import importlib
importlib.invalidate_caches()
sys.path[:0] = ["/sandbox"]
import ctypes
print(ctypes.__spec__.origin, hasattr(ctypes, "CDLL"))
attempt("inner", lambda: __import__("_ctypes"))
''')
    equal(lines, ["absent ModuleNotFoundError ", "None False",
                  "inner ModuleNotFoundError "], "namespace")


@case("code that brings a denied module along is code: it runs, and gets no "
      "further than its capabilities")
def carried():
    p = Place()
    place = p.path("in")
    os.mkdir(place)
    p.policy = p.write_policy("reads.json", languages={"python": {
        "modules": {"deny": ["socket", "queue"]},
        "capabilities": {"loopback": False, "subprocess": False}}},
        paths={"read": [place]})
    archive = os.path.join(place, "more.zip")
    subprocess.run(
        ["/usr/bin/python3", "-c", "import sys, zipfile\n"
         "with zipfile.ZipFile(sys.argv[1], 'w') as z:\n"
         "    for n in ('socket', 'queue'):\n"
         "        z.write(sys.argv[2] + '/' + n + '.py', n + '.py')\n",
         archive, LIBRARY], check=True)
    os.chmod(place, 0o755)
    os.chmod(archive, 0o644)
    lines = python(p, r'''
attempt("before", lambda: __import__("queue"))
sys.path.insert(0, "/sandbox/more.zip")
import queue, socket
print(queue.__file__, socket.__file__)
q = queue.Queue(); q.put(1); print(q.get())
attempt("inet", lambda: socket.socket(socket.AF_INET))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
''', "--file", archive + ":more.zip")
    equal(lines, ["before ModuleNotFoundError ",
                  "/sandbox/more.zip/queue.py /sandbox/more.zip/socket.py",
                  "1", "inet PermissionError 1", "unix PermissionError 1"],
          "carried")
    with open(LIBRARY + "/queue.py", encoding="utf-8") as f:
        text = f.read()
    lines = python(p, "with open('/sandbox/renamed.py', 'w') as f:\n"
                   "    f.write(%r)\n"
                   "sys.path[:0] = ['/sandbox']\n"
                   "import renamed\nprint(renamed.Queue().empty())\n" % text)
    equal(lines, ["True"], "a renamed copy")


@case("a name that is only known at run time finds no more than one in the text")
def computed():
    p = denying("ctypes", "queue")
    lines = python(p, r'''
import base64, builtins, codecs, importlib, importlib.util, operator, types
c = "".join(map(chr, [99, 116, 121, 112, 101, 115]))
attempt("chr", lambda: __import__(c))
attempt("reversed", lambda: __import__("sepytc"[::-1]))
attempt("format", lambda: __import__("%s%s" % ("cty", "pes")))
attempt("base64", lambda: __import__(base64.b64decode("Y3R5cGVz").decode()))
attempt("rot13", lambda: __import__(codecs.decode("pglcrf", "rot13")))
attempt("getattr", lambda: getattr(builtins, "__imp" + "ort__")(c))
attempt("globals", lambda: globals()["__builtins__"].__import__(c))
attempt("subclass", lambda: [k for k in object.__subclasses__()
        if k.__name__ == "BuiltinImporter"][0].load_module(c))
attempt("eval", lambda: eval("__import__(%r)" % c))
attempt("exec", lambda: exec("from %s import CDLL" % c))
attempt("compile", lambda: exec(compile("import " + c, "x", "exec"), {}))
attempt("method", lambda: operator.methodcaller("import_module", c)(importlib))
attempt("resolve", lambda: importlib.util.resolve_name("." + c, "ctypes"))
attempt("relative", lambda: importlib.import_module("." + c, "ctypes"))
attempt("code", lambda: types.FunctionType(compile("import queue", "x",
        "exec"), {"__builtins__": builtins})())
attempt("pickle", lambda: __import__("pickle").loads(b"cctypes\nCDLL\n."))
attempt("site", lambda: __import__("site").addsitedir("/usr/lib/python3")
        or __import__(c))
''')
    wrong = [line for line in lines if line.split()[1] == "works" and
             line.split()[0] != "resolve"]
    equal((wrong, len(lines)), ([], 17), lines)


@case("what the interpreter could be told to load is not there either: "
      "startup files, options, variables, a database of names")
def startup():
    p = denying("ctypes", "queue",
                capabilities={"subprocess": True})
    lines = python(p, r'''
import subprocess
D = "/sandbox/lib"
os.mkdir(D)
for name in ("sitecustomize.py", "usercustomize.py"):
    with open(D + "/" + name, "w") as f:
        f.write("import ctypes")
with open(D + "/x.pth", "w") as f:
    f.write("import ctypes\\n/usr/lib/python3.11\\n")
def child(env, *words):
    return subprocess.run([sys.executable, *words], env=env, text=True,
                          capture_output=True)
for env, words in (({"PYTHONPATH": D}, ["-c", "import ctypes"]),
                   ({"PYTHONHOME": "/usr"}, ["-c", "import queue"]),
                   ({"PYTHONSTARTUP": D + "/sitecustomize.py"},
                    ["-ic", "import ctypes"]),
                   ({}, ["-m", "site", "--user-site"]),
                   ({}, ["-c", "import site; site.addsitedir(%r); import "
                         "ctypes" % D])):
    r = child(env, *words)
    print("child", "CDLL" in r.stdout, "No module named" in r.stderr or
          words[0] == "-m")
''')
    equal(lines, ["child False True"] * 5, "children")


@case("a copy carried in the code, whole or in parts, is code: it runs, and a "
      "library among it does not load")
def carried_in_code():
    p = denying("ctypes", "queue",
                capabilities={"exec_memory": False, "loopback": False})
    names = [n for n in os.listdir(LIBRARY + "/lib-dynload")
             if n.startswith("_ctypes.")]
    # Of Debian's Python; another may have it inside.
    check(names, "no _ctypes in " + LIBRARY)
    with open(os.path.join(LIBRARY, "lib-dynload", names[0]), "rb") as f:
        library = zlib.compress(f.read(), 9)
    with open(LIBRARY + "/queue.py", "rb") as f:
        text = zlib.compress(f.read(), 9)
    code = r'''
import base64, importlib.abc, importlib.machinery, importlib.util, types, zlib
text = zlib.decompress(base64.b85decode(TEXT))
m = types.ModuleType("queue")
exec(compile(text, "queue.py", "exec"), m.__dict__)
sys.modules["queue"] = m
import queue
q = queue.Queue(); q.put("runs"); print("text", q.get())
class Finder(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    def find_spec(self, name, path, target=None):
        if name == "qqueue":
            return importlib.util.spec_from_loader(name, self)
    def get_filename(self, name):
        return name
    def get_data(self, path):
        return text
sys.meta_path.append(Finder())
import qqueue
print("finder", qqueue.Queue().qsize())
for place in ("/sandbox", "/tmp", "/dev/shm"):
    path = place + "/renamed" + importlib.machinery.EXTENSION_SUFFIXES[0]
    with open(path, "wb") as f:
        f.write(zlib.decompress(base64.b85decode(LIB)))
    os.chmod(path, 0o755)
    def load(name="_ctypes"):
        spec = importlib.util.spec_from_file_location(name, path)
        importlib.util.module_from_spec(spec)
    attempt("library", load)
attempt("memfd", lambda: os.memfd_create("x"))
import mmap
f = open(path, "r+b")
for kind in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
    attempt("map", lambda: mmap.mmap(f.fileno(), 4096, kind, mmap.PROT_READ |
                                     mmap.PROT_EXEC))
'''.replace("TEXT", repr(base64.b85encode(text))).replace(
        "LIB", repr(base64.b85encode(library)))
    lines = python(p, code)
    equal(lines[:2], ["text runs", "finder 0"], "code")
    wrong = [line for line in lines[2:] if line.split()[1] == "works"]
    equal((wrong, len(lines)), ([], 8), lines)
    # It is this capability and nothing else that stops it.
    lines = python(denying("ctypes", "queue",
                           capabilities={"exec_memory": True}), code)
    check("library works" in lines, lines)


@case("a module inside the interpreter imports, and its capability is not there")
def inside():
    p = Place(languages={"python": {
        "modules": {"deny": ["socket", "posix", "_thread"]},
        "capabilities": {"loopback": False, "subprocess": False,
                         "threads": False}}})
    lines = python(p, r'''
import _socket, posix, _thread
attempt("import", lambda: __import__("socket"))
attempt("socket", lambda: _socket.socket())
attempt("fork", lambda: posix.fork())
attempt("spawn", lambda: posix.posix_spawn("/bin/true", ["true"], {}))
attempt("exec", lambda: posix.execv("/bin/true", ["true"]))
attempt("thread", lambda: _thread.start_new_thread(print, ()))
''')
    check(lines[0] == "import ModuleNotFoundError ", lines)
    wrong = [line for line in lines if line.split()[1] == "works"]
    equal((wrong, len(lines)), ([], 6), lines)


@case("a policy whose denial cannot be had is refused, and nothing runs")
def refused():
    for names, more, says in (
            (["math"], {}, "cannot be denied"),
            (["sys"], {}, "cannot be denied"),
            (["os"], {"capabilities": {"subprocess": True}}, "subprocess"),
            (["socket"], {"capabilities": {"loopback": True}}, "loopback")):
        p = denying(*names, **more)
        r = p.python("print(1)")
        check(r.code == 125 and r.out == b"" and says in r.err.decode() and
              names[0] in r.err.decode(), r)
        found = subprocess.run([CHECK, "check", "--json", p.policy],
                               capture_output=True, text=True, check=False)
        answer = json.loads(found.stdout)
        check(found.returncode == 1 and not answer["ok"] and
              says in answer["faults"][0]["text"] and
              answer["faults"][0]["pointer"] ==
              "/languages/python/modules/deny", answer)
    p = Place(languages={"bash": {"modules": {"deny": ["x"]}}})
    r = p.bash("true")
    check(r.code == 125 and b"no modules" in r.err, r)


@case("policy check says how each denied module is enforced")
def told():
    p = denying("ctypes", "socket", "ctype",
                capabilities={"loopback": False})
    words = [CHECK, "check", p.policy]
    answer = json.loads(subprocess.run(
        words[:2] + ["--json"] + words[2:], capture_output=True, text=True,
        check=True).stdout)
    by_name = {m["name"]: m for m in answer["modules"]}
    equal([(m["name"], m["enforced"], m.get("capability"))
           for m in answer["modules"]],
          [("ctype", "nothing", None), ("ctypes", "absent", None),
           ("socket", "capability", "loopback")], "modules")
    check(LIBRARY + "/ctypes" in by_name["ctypes"]["files"] and
          any("/_ctypes." in f for f in by_name["ctypes"]["files"]), by_name)
    check(LIBRARY + "/socket.py" in by_name["socket"]["files"], by_name)
    check(any("ctype: " in w for w in answer["warnings"]), answer)
    text = subprocess.run(words, capture_output=True, text=True,
                          check=True).stdout
    check("python: ctypes: absent" in text and
          "python: socket: capability loopback" in text, text)


@case("two policies at once hide each its own modules")
def two_policies():
    p = denying("ctypes")
    other = p.write_policy("other.json",
                           languages={"python": {"modules": {"deny": [
                               "queue"]}}})
    code = r'''
for name in ("ctypes", "queue"):
    attempt(name, lambda: __import__(name))
'''
    for _ in range(2):
        equal(python(p, code), ["ctypes ModuleNotFoundError ",
                                "queue works "[:-1]], "first")
        equal(python(p, code, policy=other),
              ["ctypes works", "queue ModuleNotFoundError "], "second")
    equal(len(p.supervisors()), 2, "services")


@case("strict denies what it says, and the common library still imports")
def strict():
    p = Place()
    with open(os.path.join(PRESETS, "strict.json"), encoding="utf-8") as f:
        text = f.read()
    # How fast a machine imports is not the question.
    text = re.sub(r'"(wall|cpu)_ms": {[^}]*}',
                  r'"\1_ms": { "default": 120000, "max": 120000 }', text)
    path = p.write("strict.json", text)
    lines = python(p, r'''
for name in ("ctypes", "multiprocessing"):
    attempt("denied", lambda: __import__(name))
''', policy=path)
    equal(lines, ["denied ModuleNotFoundError "] * 2, "denied")
    lines = python(p, r'''
for name in ("argparse ast asyncio base64 bisect calendar collections csv "
    "dataclasses datetime decimal difflib email.message enum fractions functools "
    "glob gzip hashlib heapq html http.client inspect itertools json logging math "
    "operator os pathlib pickle platform pprint random re secrets shutil sqlite3 "
    "statistics string struct subprocess tempfile textwrap threading time tomllib "
    "traceback typing unicodedata unittest urllib.request uuid xml.dom.minidom "
    "zipfile zlib zoneinfo").split():
    attempt(name, lambda: __import__(name))
''', policy=path)
    all_say(lines, "works")


@case("a live socket and a FIFO of the host below /usr are other inodes inside")
def host_socket():
    """What a plain bind of /usr would leave connectable (DESIGN: view)."""
    folder = tempfile.mkdtemp(prefix="bailiff-test-", dir="/usr/share")
    try:
        os.chmod(folder, 0o755)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(folder + "/s")
        listener.listen()
        os.chmod(folder + "/s", 0o777)
        os.mkfifo(folder + "/f")
        os.chmod(folder + "/f", 0o666)
        reader = os.open(folder + "/f", os.O_RDONLY | os.O_NONBLOCK)
        p = Place()
        lines = python(p, r'''
import socket, fcntl
s = socket.socket(socket.AF_UNIX)
attempt("connect", lambda: s.connect(PATH + "/s"))
attempt("fifo", lambda: os.open(PATH + "/f", os.O_WRONLY | os.O_NONBLOCK))
'''.replace("PATH", repr(folder)))
        listener.setblocking(False)
        try:
            listener.accept()
            raise AssertionError("somebody connected")
        except BlockingIOError:
            pass
        equal(os.read(reader, 1), b"", "the FIFO")
        os.close(reader)
        listener.close()
    finally:
        shutil.rmtree(folder)
    all_differ = [line.split()[1] for line in lines]
    check("works" not in all_differ, lines)


@case("a lock on a file of the toolchain is not the host's")
def locks():
    p = Place()
    with open(LIBRARY + "/os.py", "rb") as f:
        import fcntl
        fcntl.flock(f, fcntl.LOCK_EX)
        lines = python(p, r'''
import fcntl
f = open(LIBRARY + "/os.py")
attempt("lock", lambda: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB))
'''.replace("LIBRARY", repr(LIBRARY)))
    equal(lines, ["lock works"], "lock")


@case("the mount table inside says overlay, read-only, and names no host path")
def mount_table():
    p = denying("ctypes")
    lines = python(p, r'''
print(open("/proc/self/mountinfo").read())
''')
    usr = [line for line in lines if " /usr " in line]
    equal(len(usr), 1, "mounts at /usr")
    left, right = usr[0].split(" - ")
    check({"ro", "nosuid", "nodev"} <= set(left.split()[5].split(",")), usr)
    check(right.split()[0] == "overlay" and
          "ro" in right.split()[2].split(","), usr)
    for line in lines:
        check("ext4" not in line and "/dev/vda" not in line and
              LIBRARY not in line and p.dir not in line, line)


@case("each mount of the host below /usr is an overlay of its own, a file stays "
      "a file, and what is neither is absent")
def host_mounts():
    folder = tempfile.mkdtemp(prefix="bailiff-test-", dir="/usr/share")
    try:
        os.chmod(folder, 0o755)
        for name in ("tree", "odd dir", "tree2"):
            os.mkdir(os.path.join(folder, name), 0o755)
        for name in ("file", "masked", "odd dir/below", "tree2/below"):
            with open(os.path.join(folder, name), "w") as f:
                f.write("below")
            os.chmod(os.path.join(folder, name), 0o644)
        p = denying("ctypes")
        code = PRELUDE + r'''
os.chdir(FOLDER)
print(open("tree/a").read(), open("tree/in/b").read(), open("file").read())
print(sorted(os.listdir(".")), os.path.exists("tree2/below"))
attempt("write", lambda: open("tree/c", "w"))
attempt("masked", lambda: open("masked"))
attempt("import", lambda: __import__("ctypes"))
'''.replace("FOLDER", repr(folder))
        script = """set -e
mount -t tmpfs -o mode=755 none "$0/tree"; echo -n A > "$0/tree/a"
mkdir "$0/tree/in"; mount -t tmpfs -o mode=755 none "$0/tree/in"
echo -n B > "$0/tree/in/b"
mount -t tmpfs none "$0/odd dir"; mount -t tmpfs none "$0/tree2"
echo -n F > "$0/tree/f"; mount --bind "$0/tree/f" "$0/file"
mount --bind /dev/null "$0/masked"
exec "$@" """
        r = subprocess.run(
            ["/usr/bin/unshare", "-m", "/bin/bash", "-c", script, folder] +
            p.words("run", "--json", "--lang", "python", "-c", code),
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
            check=False, timeout=120)
        answer = json.loads(r.stdout)
        equal(answer["stdout"].splitlines(),
              ["A B F", "['file', 'tree', 'tree2'] False", "write OSError 30",
               "masked FileNotFoundError 2", "import ModuleNotFoundError "],
              r.stderr)
        recorded(p, answer)
        p.stop()
    finally:
        shutil.rmtree(folder)


@case("attributes of directories above a hidden name are the host's")
def attributes():
    p = denying("ctypes", "xml.etree")
    code = r'''
for d in ("/usr", "/usr/lib", LIBRARY, LIBRARY + "/xml",
          LIBRARY + "/lib-dynload"):
    print(oct(os.stat(d).st_mode & 0o777))
'''.replace("LIBRARY", repr(LIBRARY))
    want = [oct(os.stat(d).st_mode & 0o777)
            for d in ("/usr", "/usr/lib", LIBRARY, LIBRARY + "/xml",
                      LIBRARY + "/lib-dynload")]
    equal(python(p, code), want, "modes")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-policy")
    main()
