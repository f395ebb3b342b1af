"""Libraries of a request: allowed by name, installed apart from user code, recorded, never writable.

Run as: python3 test_libraries.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

from lib import Place, case, check, equal, main, need_programs, need_root, recorded


def wheel(directory, name, version, files, requires=()):
    info = "%s-%s.dist-info/" % (name, version)
    path = os.path.join(directory, "%s-%s-py3-none-any.whl" % (name, version))
    files = dict(files, **{
        info + "METADATA": "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s" % (
            name, version, "".join("Requires-Dist: %s\n" % r for r in requires)),
        info + "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"})
    files[info + "RECORD"] = "".join(n + ",,\n" for n in [*files, info + "RECORD"])
    with zipfile.ZipFile(path, "w") as z:
        for n, text in files.items():
            z.writestr(n, text)
    return path


def sdist(directory, name, version, setup):
    with tarfile.open(os.path.join(directory, "%s-%s.tar.gz" % (name, version)), "w:gz") as t:
        for n, text in (("setup.py", setup), ("PKG-INFO", "Metadata-Version: 1.0\nName: %s\nVersion: %s\n" % (name, version))):
            entry = tarfile.TarInfo("%s-%s/%s" % (name, version, n))
            entry.size = len(text)
            t.addfile(entry, io.BytesIO(text.encode()))


def place(allow, fill, **more):
    p = Place(**more)
    directory = p.path("wheels")
    os.mkdir(directory, 0o755)
    fill(directory)
    with open(p.policy, encoding="utf-8") as f:
        policy = json.load(f)
    policy["languages"].setdefault("python", {})["libraries"] = {"allow": allow, "from": directory}
    with open(p.policy, "w", encoding="utf-8") as f:
        json.dump(policy, f)
    return p


def tiny(directory):
    wheel(directory, "tiny_a", "1.0", {"tiny_a/__init__.py": "import tiny_b\nvalue = 'a' + tiny_b.value\n"}, ["tiny-b"])
    wheel(directory, "tiny_b", "2.0", {"tiny_b.py": "value = 'b'\n"})
    wheel(directory, "tiny_c", "1.0", {"tiny_c.py": "value = 'c'\n"})


def python(p, code, *libraries, **more):
    words = [w for name in libraries for w in ("--library", name)]
    return p.json("--lang", "python", *words, "-c", code, **more).json


def layers(p, kind):
    return sorted(n for n in os.listdir(os.path.join(p.state, "layers")) if n.startswith(kind + "-"))


@case("a library and what it needs are installed once, in a sandbox of their own, and recorded")
def _():
    p = place(["Tiny.A", "tiny-b"], tiny)
    code = "import os, tiny_a\nprint(tiny_a.value, tiny_a.__file__, os.path.exists('/opt/sources/tiny_c-1.0-py3-none-any.whl'))"
    for n in (1, 2):
        r = python(p, code, "TINY_a")
        equal((r["status"], r["stdout"]), ("ok", "ab /opt/libraries/site/tiny_a/__init__.py False\n"), r["stderr"] or r["error"])
        check("library.tiny_a" in r["decision"]["rules"], r["decision"])
        end = [x for x in p.records() if x["type"] == "outcome"][-1]
        equal([x["phase"] for x in end.get("phases", [])], ["install", "run"] if n == 1 else [], "phases")
    folder = r["result_folder"]
    with open(os.path.join(folder, "result.json"), encoding="utf-8") as f:
        listed = json.load(f)["inputs"]
    equal([i["name"] for i in listed], ["tiny_a-1.0-py3-none-any.whl", "tiny_b-2.0-py3-none-any.whl"], "files that are offered")
    text = ""
    for i in listed:
        with open(p.path("wheels", i["name"]), "rb") as f:
            equal(i["sha256"], hashlib.sha256(f.read()).hexdigest(), i["name"])
        text += "%s  libraries/%s\n" % (i["sha256"], i["name"])
    intent = [x for x in p.records() if x["type"] == "intent"][-1]
    equal(intent["inputs"], {"count": 2, "sha256": hashlib.sha256(text.encode()).hexdigest()}, "what the intent says")
    name, = layers(p, "libraries")
    with open(os.path.join(p.state, "layers", name, "list"), "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    with open(os.path.join(folder, "layers"), encoding="ascii") as f:
        check("%s  libraries\n" % digest in f.read(), "the layer's digest is among the results")
    equal(p.verify().code, 0, "verify")
    r = python(p, "import tiny_a")
    equal(r["status"], "error", "who does not ask does not get it")


@case("an environment that is kept is the one that the program with libraries had, and what is committed to")
def _():
    p = place(["tiny-b"], tiny, audit={"env": "store"})
    r = python(p, "import os\nprint(os.environ['PYTHONPATH'])", "tiny-b")
    equal(r["status"], "ok", r["stderr"] or r["error"])
    with open(os.path.join(r["result_folder"], "env"), encoding="utf-8") as f:
        check("PYTHONPATH=" + r["stdout"].strip() in f.read().split("\0"), r["stdout"])
    equal(p.verify().code, 0, "verify")


@case("what is not allowed by name and version is denied, and no word of an installer gets past")
def _():
    p = place(["tiny-a", "tiny-b==2.0"], tiny)
    denied = {"tiny-c": "library.not_allowed", "tiny-b==1.0": "library.not_allowed", "tiny-b==2.0.1": "library.not_allowed",
              "numpy": "library.not_allowed"}
    for text in ("", "-r", "--index-url", "--index-url=http://x/", "-rtiny-a", "-e.", "tiny-a --pre", "tiny-a;x", "tiny-a,tiny-b",
                 "./tiny_a", "/srv/x.whl", "../x", "tiny_a-1.0-py3-none-any.whl/", "git+https://x/y", "https://x/y.whl", "file:x",
                 "tiny-a @ file:///x", "tiny-a>=1", "tiny-a==", "tiny-a==*", "tiny-a==1.0 -r x", "tiny-a[all]", "tiny-a\n-r x", "-", ".",
                 "tiny-a-", "a" * 64, "t\u00efny"):
        denied[text] = "library.name"
    for text, reason in denied.items():
        r = python(p, "print(1)", text)
        equal((r["status"], r["decision"] and r["decision"]["reasons"]), ("denied", [reason]), repr(text))
    r = python(p, "print(1)", "tiny-a", "Tiny_A")
    equal(r["decision"]["reasons"], ["library.name"], "twice")
    r = p.json("--lang", "bash", "--library", "tiny-a", "-c", "true").json
    equal(r["decision"]["reasons"], ["library.not_allowed"], "another language")
    equal(layers(p, "libraries"), [], "nothing was installed")
    equal(p.verify().code, 0, "verify")


@case("an installation that fails is the end of the request, with the tool's own words")
def _():
    def fill(directory):
        tiny(directory)
        wheel(directory, "needy", "1.0", {"needy.py": ""}, ["tiny-c"])
        sdist(directory, "sourcey", "1.0", "open('/sandbox/site/ran', 'w')\nraise SystemExit('SETUP RAN')\n")
        wheel(directory, "crooked", "1.0", {"../../tmp/crooked": "x", "../../../opt/x.py": "x"})
        with open(os.path.join(directory, "broken-1.0-py3-none-any.whl"), "wb") as f:
            f.write(b"no zip at all\x1b[31m")
    p = place(["tiny-a", "tiny-b", "needy", "sourcey", "crooked", "broken"], fill)
    for name, said in (("needy", "tiny-c"), ("sourcey", "sourcey"), ("crooked", "crooked"), ("broken", "broken")):
        r = python(p, "print('ran')", name)
        equal((r["status"], r["phase"], r["stdout"]), ("error", "install", ""), "%s: %r" % (name, r))
        recorded(p, r)
        check(said in r["stderr"] and "SETUP RAN" not in r["stderr"] and r["exit_code"] not in (0, None), "%s: %r" % (name, r["stderr"]))
    equal(layers(p, "libraries"), [], "no layer is left")
    equal([n for n in os.listdir(os.path.join(p.state, "layers")) if n.startswith("new-")], [], "nor half of one")
    equal(python(p, "import tiny_a; print(tiny_a.value)", "tiny-a")["stdout"], "ab\n", "the next")
    equal(p.verify().code, 0, "verify")


@case("a layer of an earlier boot, which a power cut may have torn, is made anew")
def _():
    p = place(["tiny-b"], tiny)
    code = "import tiny_b\nprint(tiny_b.value)"
    equal(python(p, code, "tiny-b")["stdout"], "b\n", "first")
    p.stop()
    store = os.path.join(p.state, "layers")
    for folder in os.listdir(store):
        for top, _, names in os.walk(os.path.join(store, folder, "tree")):
            for name in names:
                os.truncate(os.path.join(top, name), 0)
    with open(os.path.join(store, ".boot"), "r+", encoding="ascii") as f:
        check(len(f.read().strip()) == 36, "a boot id")
        f.seek(0)
        f.write("0")
    r = python(p, code, "tiny-b")
    equal((r["status"], r["stdout"]), ("ok", "b\n"), r["stderr"] or r["error"])


@case("no run can write what a later one reads")
def _():
    p = place(["tiny-a", "tiny-b"], tiny, capabilities={"subprocess": True})
    poison = """
import os
for path in ("/opt/libraries/site/tiny_b.py", "/opt/libraries/site/new.py", "/opt/libraries/site/__pycache__/tiny_b.cpython-311.pyc"):
    for act in (lambda: open(path, "w").write("value = 'poison'"), lambda: os.chmod(path, 0o777), lambda: os.unlink(path),
                lambda: os.rename(path, path + "x"), lambda: os.truncate(path, 0), lambda: os.utime(path)):
        try:
            act()
            print("DONE", path)
        except OSError as e:
            pass
import tiny_a
print(tiny_a.value)
"""
    equal(python(p, poison, "tiny-a")["stdout"], "ab\n", "first")
    name, = layers(p, "libraries")
    for n in ("second", "after a new start"):
        equal(python(p, "import tiny_a; print(tiny_a.value)", "tiny-a")["stdout"], "ab\n", n)
        p.run("stop") if n == "second" else None
    with open(os.path.join(p.state, "layers", name, "list"), encoding="utf-8") as f:
        for line in f:
            digest, path = line.rstrip("\n").split("  ", 1)
            with open(os.path.join(p.state, "layers", name, "tree", path), "rb") as file:
                equal(hashlib.sha256(file.read()).hexdigest(), digest, path)


@case("what is hashed is what is installed, whatever happens to the directory; a new file is another layer")
def _():
    p = place(["tiny-b"], tiny)
    equal(python(p, "print(1)")["stdout"], "1\n", "it runs")
    wheel(p.path("wheels"), "tiny_b", "2.0", {"tiny_b.py": "value = 'changed'\n"})
    equal(python(p, "import tiny_b; print(tiny_b.value)", "tiny-b")["stdout"], "b\n", "what was there at the start")
    p.stop()
    equal(python(p, "import tiny_b; print(tiny_b.value)", "tiny-b")["stdout"], "changed\n", "after a new start")
    equal(len(layers(p, "libraries")), 2, "layers")


@case("a directory that is not there, or that a link leads to, refuses the policy by its key")
def _():
    p = place(["tiny-b"], tiny)
    shutil.move(p.path("wheels"), p.path("moved"))
    r = python(p, "print(1)")
    check("libraries.from" in r["error"], r["error"])
    os.symlink(p.path("moved"), p.path("wheels"))
    r = python(p, "print(1)")
    check("libraries.from" in r["error"], r["error"])


need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
if subprocess.run(["/usr/bin/python3", "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
    print("skipped: no pip; apt-get install python3-pip")
    sys.exit(77)
main()
