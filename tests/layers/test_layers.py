#!/usr/bin/python3
"""Each layer of confinement is seen by an attempt that it alone refuses.

    test_layers.py BUILD_DIR SOURCE_DIR [part of a name]

For every row of layers.py a launcher is built that lacks the layer, and the
row's attempt is made with the whole launcher and with the lesser one: refused
by the first, going through with the second.  Then `bailiff run` is tried with
the lesser one: the supervisor reads the posture of the stopped program and
refuses where the layer shows in it; where it does not (the values of groups,
code from the scratch), the probe of that name must turn red.

Needs root, cmake and ninja.  Builds below BUILD_DIR/layers.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from layers import CALL, LAYERS  # noqa: E402

BUILD, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WANTED = sys.argv[3] if len(sys.argv) > 3 else ""
LESSER = os.path.join(BUILD, "layers")
DRIVER = os.path.join(BUILD, "tests", "launch_driver")
WHOLE = os.path.join(BUILD, "libexec", "bailiff", "bailiff-launch")
PROGRAMS = ("bailiff-launch", "bailiff-opener", "bailiff-collect",
            "bailiff-screen")
PATIENCE_S = 300

failed = []


def say(ok, text, detail=""):
    print(("ok   " if ok else "FAIL ") + text + ("" if ok else ": " + detail),
          flush=True)
    if not ok:
        failed.append(text)


def build(omit):
    """A launcher without the layer; the whole tree around it."""
    with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
        compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", f.read(), re.M)
    for words in (["cmake", "-S", SOURCE, "-B", LESSER, "-G", "Ninja",
                   "-DCMAKE_BUILD_TYPE=None", "-DBUILD_TESTING=OFF",
                   "-DCMAKE_C_COMPILER=" + compiler.group(1),
                   "-DBAILIFF_TEST_OMIT=" + omit],
                  ["cmake", "--build", LESSER, "--parallel", "2",
                   "--target", *PROGRAMS]):
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            print(done.stdout[-3000:])
            sys.exit("cannot build without " + omit)
    return os.path.join(LESSER, "libexec", "bailiff", "bailiff-launch")


def drive(layer, launch, facts):
    code = layer.code
    for name, value in facts.items():
        code = code.replace("{%s}" % name, value)
    done = subprocess.run(
        [DRIVER, *layer.options, launch, "/usr/bin/python3", "-I", "-S", "-c",
         CALL + code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
        timeout=PATIENCE_S, check=False)
    return done.stdout


def refuses_install():
    done = subprocess.run(["cmake", "--install", LESSER, "--prefix",
                           os.path.join(LESSER, "nowhere")], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.returncode != 0 and "must not be installed" in \
        " ".join(done.stdout.split())


class Tree:
    """A copy of the build tree, in which the launcher can be exchanged."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bailiff-layers-")
        os.chmod(self.dir, 0o755)
        for name in ("bin", "libexec", "share"):
            shutil.copytree(os.path.join(BUILD, name),
                            os.path.join(self.dir, name))

    def run(self, launch):
        """(status, step) of a run in it."""
        target = os.path.join(self.dir, "libexec", "bailiff", "bailiff-launch")
        os.unlink(target)
        shutil.copy2(launch, target)
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, "one_run.py"), self.dir,
             SOURCE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=PATIENCE_S, check=False)
        return done.stdout.strip()

    def probes_pass(self, name):
        """Whether the probes of that name are green with what is in it."""
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, "..", "escape",
                                                "test_probes.py"),
             self.dir, SOURCE, name], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S,
            check=False)
        if "\n0 cases" in "\n" + done.stdout or "FAIL" not in done.stdout:
            print(done.stdout[-500:])
        return done.returncode == 0

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def host_facts():
    """Things of the host that a run must not reach."""
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", 0))
    tcp.listen(8)
    abstract = socket.socket(socket.AF_UNIX)
    name = "bailiff-layers-%d" % os.getpid()
    abstract.bind("\0" + name)
    abstract.listen(8)
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x62000000 + os.getpid()
    shm = libc.shmget(key, 4096, 0o1666)
    return ({"port": str(tcp.getsockname()[1]), "name": name, "key": str(key)},
            (tcp, abstract), lambda: libc.shmctl(shm, 0, None))


def one(layer, tree, facts, seen):
    title = "%s (%s, without %s)" % (layer.what, layer.letter, layer.omit)
    launch = build(layer.omit)
    text = drive(layer, WHOLE, facts)
    say(re.search(layer.stands, text) is not None,
        title + ": the attempt is refused while it stands", text[-1500:])
    text = drive(layer, launch, facts)
    if layer.gone is None:
        say(re.search(layer.stands, text) is None,
            title + ": nothing runs that could be told from a run", text[-1500:])
    else:
        say(re.search(layer.gone, text) is not None,
            title + ": the attempt shows that it is gone", text[-1500:])
    if layer.omit not in seen:
        seen[layer.omit] = tree.run(launch)
        word = "without %s the service " % layer.omit
        if seen[layer.omit] != "ok":
            say(seen[layer.omit].startswith("error: "), word + "refuses: " +
                seen[layer.omit][7:], seen[layer.omit])
        else:
            say(not tree.probes_pass(layer.service), word + "runs, and the "
                "probe %s turns red" % layer.service, "it is green")


def main():
    if os.geteuid() != 0:
        print("skipped: needs root, this is uid %d" % os.geteuid())
        sys.exit(77)
    if shutil.which("cmake") is None or shutil.which("ninja") is None:
        print("skipped: needs cmake and ninja")
        sys.exit(77)
    facts, keep, forget = host_facts()
    tree = Tree()
    seen = {}
    try:
        whole = tree.run(WHOLE)
        say(whole == "ok", "with every layer the service runs it", whole)
        for layer in sorted(LAYERS, key=lambda row: row.omit):
            if WANTED in layer.omit or WANTED in layer.what:
                one(layer, tree, facts, seen)
        say(refuses_install(), "a build that lacks a layer is not installed")
    finally:
        forget()
        for s in keep:
            s.close()
        tree.remove()
    print("%d failed" % len(failed))
    sys.exit(1 if failed else 0)


main()
