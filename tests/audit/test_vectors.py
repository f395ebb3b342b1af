"""Every published vector gets the exit code that the format says, and no random damage passes.

Run as: python3 test_vectors.py BUILD_DIR SOURCE_DIR.
"""
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vectors  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1]) + "/libexec/bailiff/bailiff-audit"
TOP = tempfile.mkdtemp(prefix="bailiff-vectors-")
FAULTS = []
GOLDEN = vectors.golden()
ENVIRONMENT = {"HOME": TOP, "PATH": "/usr/bin:/bin"}


def check(good, what):
    print(("ok    " if good else "FAIL  ") + what, flush=True)
    if not good:
        FAULTS.append(what)


def run(*words, where=f"{TOP}/v"):
    return subprocess.run([PROGRAM, *words], cwd=where, env=ENVIRONMENT, capture_output=True, timeout=60, check=False)


def options(args, files):
    """The options of a vector as ours: names of files are relative to it, a pin and a witness policy stand beside."""
    out = list(args)
    if files.get("vkey") is not None:
        out += ["--key", files["vkey"].decode().strip()]
    if "witnessed" in args:
        with open(f"{TOP}/v/witness.policy", "wb") as f:
            f.write(b"# one witness\nwitness w1 " + files["witness.vkey"].strip() + b"\ngroup all-of-us all w1\n"
                    b"quorum all-of-us\n")
        out += ["--witness-policy", "witness.policy"]
    return out


def verify(files, args):
    vectors.write(files, f"{TOP}/v")
    return run("verify", ".", *options(args, files))


def judge_all(name):
    wrong = []
    vs = vectors.load(name)
    for v in vs:
        files = vectors.apply(v, GOLDEN)
        for more in ([], ["--deep"], ["--json"]):
            done = verify(files, [*v["args"], *more])
            told = done.stdout or done.stderr
            if done.returncode != v["exit"] or not told:
                wrong.append(f"{v['name']} {more}: {done.returncode}, not {v['exit']}: {told[-300:]!r}")
            if more == ["--json"] and done.stdout and json.loads(done.stdout)["exit"] != v["exit"]:
                wrong.append(f"{v['name']}: its JSON says another exit code")
    for w in wrong:
        print("      " + w)
    check(not wrong, f"{name}: {len(vs)} vectors, fast, deep and as JSON")


def golden_set():
    for args in ([], ["--deep"], ["--strict"], ["--results", "results"], ["--require", "local"],
                 ["--require", "witnessed"], ["--known", "outcome.tlog-proof"], ["--known", "checkpoint"],
                 ["--strict", "--deep", "--results", "results", "--known", "checkpoint", "--known",
                  "results/r_8899aabbccddeeff0011223344556677/record.tlog-proof", "--require", "witnessed"]):
        done = verify(GOLDEN, args)
        check(done.returncode == 0, f"golden log {' '.join(args)}")
    done = verify(GOLDEN, [])
    lines = done.stdout.decode().splitlines()
    check(lines[-2].startswith("Integrity: VERIFIED") and lines[-1] == "Assurance: pin: --key, keys: files, local",
          "the last two lines are Integrity and Assurance")
    check(b"complete" not in done.stdout.lower(), "the report never says complete")
    check(verify(GOLDEN, ["--require", "anchored"]).returncode == 3, "no anchor: --require anchored is 3")
    check(run("verify", ".", "--key", "vkey").returncode == 0, "--key takes a file of that name")


def damage():
    random.seed(7)
    passed = []
    vectors.write(GOLDEN, f"{TOP}/v")
    key = GOLDEN["vkey"].decode().strip()
    places = [("log/000000.jsonl", GOLDEN["log.jsonl"])] * 9 + [("checkpoint", GOLDEN["checkpoint"])]
    with open(f"{TOP}/v/witness.policy", "wb") as f:
        f.write(b"witness w1 " + GOLDEN["witness.vkey"].strip() + b"\nquorum w1\n")
    for _ in range(2000):
        name, old = random.choice(places)
        at = random.randrange(len(old))
        new = bytearray(old)
        new[at] ^= 1 << random.randrange(8)
        with open(f"{TOP}/v/{name}", "wb") as f:
            f.write(new)
        done = run("verify", ".", "--key", key, "--require", "witnessed", "--witness-policy", "witness.policy")
        if done.returncode not in (1, 2, 3, 4, 5, 6):
            passed.append(f"{name} byte {at}: {done.returncode}")
        with open(f"{TOP}/v/{name}", "wb") as f:
            f.write(old)
    check(not passed, f"2000 random bit flips in log and checkpoint, none accepted, no crash {passed[:5] or ''}")
    cuts = []
    log = GOLDEN["log.jsonl"]
    for size in [random.randrange(len(log)) for _ in range(200)] + [0, 1, len(log) - 1]:
        with open(f"{TOP}/v/log/000000.jsonl", "wb") as f:
            f.write(log[:size])
        code = run("verify", ".", "--key", key).returncode
        if code != 1:
            cuts.append((size, code))
    check(not cuts, f"203 cuts of the log below its checkpoint are all TAMPERED {cuts[:5] or ''}")
    with open(f"{TOP}/v/log/000000.jsonl", "wb") as f:
        f.write(b"x" * (100 << 20))
    check(run("verify", ".", "--key", key).returncode == 1, "a line of 100 MiB is refused")


def odd_files():
    folder = f"{TOP}/v/results/r_00112233445566778899aabbccddeeff"
    names = ("stdout", "files/sum.txt", "MANIFEST", "record.dsse.json", "record.tlog-proof", "extra")

    def fresh(name):
        vectors.write(GOLDEN, f"{TOP}/v")
        if os.path.exists(f"{folder}/{name}"):
            os.unlink(f"{folder}/{name}")
        return f"{folder}/{name}"

    def device(path):
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))

    def listener(path):
        s = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(os.path.dirname(path))
        s.bind(os.path.basename(path))
        os.chdir(here)
        s.close()

    kinds = {"FIFO": os.mkfifo, "symbolic link": lambda p: os.symlink("/etc/passwd", p), "socket": listener,
             "folder": os.mkdir, "device": device}
    for kind, make in kinds.items():
        wrong = []
        for name in names:
            path = fresh(name)
            try:
                make(path)
            except PermissionError:
                print(f"skip  {kind}: not permitted here")
                break
            done = run("verify", ".", "--key", "vkey", "--results", "results")
            # An empty folder holds no file, so beside the listed ones it is nothing.
            if done.returncode != (0 if (kind, name) == ("folder", "extra") else 1):
                wrong.append((name, done.returncode, done.stdout[-200:]))
        check(not wrong, f"a {kind} where a result file belongs is named, and nothing waits {wrong or ''}")
    fresh("extra")
    shutil.move(folder + "/files", folder + "/elsewhere")
    os.symlink("elsewhere", folder + "/files")
    check(run("verify", ".", "--key", "vkey", "--results", "results").returncode == 1,
          "a link in place of files/ is not followed")
    fresh("extra")
    os.mkdir(f"{TOP}/v/results/notes")
    check(run("verify", ".", "--key", "vkey", "--results", "results").returncode == 1,
          "a folder in results/ that no run has")
    os.rmdir(f"{TOP}/v/results/notes")
    os.makedirs(f"{TOP}/v/results/.staging/r_00")
    check(run("verify", ".", "--key", "vkey", "--results", "results").returncode == 0,
          "folders in the making are no results")
    deep = f"{TOP}/v/results/r_00112233445566778899aabbccddeeff/" + "d/" * 300
    os.makedirs(deep)
    check(run("verify", ".", "--key", "vkey", "--results", "results").returncode == 1, "a folder 300 deep ends the walk")
    path = fresh("files/sum.txt")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(os.path.dirname(path) + "/\x1b[31m\n\u202e", "wb") as f:
        f.write(b"x")
    done = run("verify", ".", "--key", "vkey", "--results", "results")
    check(done.returncode == 1 and b"\x1b" not in done.stdout and "\u202e".encode() not in done.stdout,
          "terminal escapes in names are shown escaped")


try:
    golden_set()
    judge_all("negative.jsonl")
    judge_all("control.jsonl")
    odd_files()
    damage()
finally:
    shutil.rmtree(TOP, ignore_errors=True)
print(f"{len(FAULTS)} faults" if FAULTS else "all passed")
sys.exit(1 if FAULTS else 0)
