"""`bailiff policy init` and `schema` from outside: what is written, and what is
never overwritten."""
import json
import os
import subprocess
import sys
import tempfile

BUILD, SOURCE = sys.argv[1], sys.argv[2]
PROGRAM = os.path.abspath(os.path.join(BUILD, "libexec/bailiff/bailiff-policy"))
PRESETS = os.path.join(BUILD, "share/bailiff/policies")
failures = 0


def run(*words, **kw):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, **kw)


def case(name, ok, detail=""):
    global failures
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + repr(detail)))
    failures += not ok


def read(path):
    with open(path, "rb") as f:
        return f.read()


def main(work):
    def path(name):
        return os.path.join(work, name)

    for preset in ("default", "user", "strict"):
        p = run("init", "--preset", preset, path(preset))
        case(f"preset {preset} is written as it is", p.returncode == 0 and p.stderr == "" and
             read(path(preset)) == read(os.path.join(PRESETS, preset + ".json")), p)
        case(f"and is sound ({preset})", run("check", path(preset)).returncode == 0)
    p = run("init", "--preset", "strict", "--name", "exam-1", path("exam.json"))
    case("--name gives it another name", p.returncode == 0 and json.loads(read(path("exam.json")))["name"] == "exam-1",
         p)
    case("and changes nothing else", read(path("exam.json")).replace(b'"exam-1"', b'"strict"') == read(path("strict")))
    os.umask(0)
    p = run("init", "--preset", "strict", cwd=work)
    case("without FILE it is policy.json here, not writable by others", p.returncode == 0 and
         os.stat(path("policy.json")).st_mode & 0o777 == 0o644, p)
    before = read(path("exam.json"))
    os.symlink("nowhere", path("link"))
    os.mkdir(path("folder"))
    for name in ("exam.json", "link", "folder"):
        p = run("init", "--preset", "default", path(name))
        case(f"{name} is not overwritten", p.returncode == 1 and "is there already" in p.stderr and
             p.stderr.count("\n") == 1, p)
    case("what was there is untouched", read(path("exam.json")) == before and
         os.readlink(path("link")) == "nowhere" and not os.path.lexists(path("nowhere")))
    for name in ("Bad", "a b", "", "x" * 64, "../x", 'a","version":2,"x":"'):
        p = run("init", "--preset", "default", "--name", name, path("bad.json"))
        case(f"a policy cannot be called {name!r}", p.returncode == 1 and p.stderr.count("\n") == 1 and
             not os.path.lexists(path("bad.json")), p)
    for words, says in (((), "which preset"), (("--preset", "strct"), "did you mean strict"),
                        (("--preset", "../policies/strict"), "unknown preset"), (("--preset", ""), "unknown preset"),
                        (("--preset", "default", "a", "b"), "one FILE too many")):
        p = run("init", *words, cwd=work)
        case("usage: init " + " ".join(words), p.returncode == 2 and says in p.stderr and p.stdout == "" and
             p.stderr.count("\n") == 1, p)
    p = run("init", "--preset", "default", path("none/x.json"))
    case("a directory that is not there is named", p.returncode == 1 and "none/x.json" in p.stderr, p)
    p = run("init", "--preset", "default", "/dev/full")
    case("a device is not overwritten", p.returncode == 1 and "is there already" in p.stderr, p)
    full = subprocess.run([PROGRAM, "schema"], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
    case("a schema that cannot be written is an error", full.returncode == 1 and "standard output" in full.stderr, full)


with tempfile.TemporaryDirectory(prefix="bailiff-test-") as folder:
    main(folder)
sys.exit(1 if failures else 0)
