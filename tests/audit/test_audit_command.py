"""`bailiff audit verify` and `show` as commands: pins, lock, folders, segments, words, confinement.

Run as: python3 test_audit_command.py BUILD_DIR SOURCE_DIR.
"""
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import vectors  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1]) + "/libexec/bailiff/bailiff-audit"
TOP = tempfile.mkdtemp(prefix="bailiff-audit-")
os.chmod(TOP, 0o755)
FAULTS = []
GOLDEN = vectors.golden()
KEY = GOLDEN["vkey"].decode().strip()
LOG_ID = KEY.split("+")[0].rsplit("/", 1)[1]
NOBODY = 65534
PINS = "/etc/bailiff/keys.d"


def check(good, what):
    print(("ok    " if good else "FAIL  ") + what, flush=True)
    if not good:
        FAULTS.append(what)


def run(*words, user=None, home=TOP, **more):
    options = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    # Another user may have no way to the build tree.
    program = PROGRAM if user is None else shutil.copy(PROGRAM, TOP)
    return subprocess.run([program, *words], cwd=TOP, env={"HOME": home}, capture_output=True, timeout=60, check=False,
                          **options, **more)


def vector(name):
    for file in ("negative.jsonl", "control.jsonl"):
        for v in vectors.load(file):
            if v["name"] == name:
                return vectors.apply(v, GOLDEN)
    raise KeyError(name)


def lay(files, to=f"{TOP}/a"):
    vectors.write(files, to)
    # The pin never stands beside the log.
    for name in ("vkey", "witness.vkey"):
        if os.path.exists(f"{to}/{name}"):
            os.unlink(f"{to}/{name}")
    return to


def one_line(done):
    return done.stdout == b"" and done.stderr.startswith(b"bailiff: ") and done.stderr.count(b"\n") == 1


def words():
    lay(GOLDEN)
    for bad in ([], ["verfy"], ["verify", "a", "b"], ["verify", "a", "--strickt"], ["verify", "a", "--require", "best"],
                ["verify", "a", "--key"], ["verify", "a", "--key", "x"], ["verify", "a", "--key", "a+b+c"],
                ["verify", "nowhere"], ["verify", "a/log"], ["verify", "a", "--key", KEY, "--known", "none"],
                ["verify", "a", "--key", KEY, "--policy", "none"], ["verify", "a", "--key", KEY, "--results"],
                ["verify", "a", "--key", KEY, "--known", "a/log/000000.jsonl"],
                ["verify", "a", "--key", KEY, "--witness-policy", "a/MANIFEST"], ["verify", "a", "--known", "/dev/null"],
                ["show", "a", "--seq", "x"], ["show", "a", "--since", "yesterday"], ["show", "nowhere"],
                ["trace"], ["trace", "r_1"], ["prove", "a"], ["check"], ["export", "a"], ["diff"], ["witness"]):
        done = run(*bad)
        check(done.returncode == 2 and one_line(done), f"exit 2 and one line: {' '.join(bad)}")
    check(b"not built yet" in run("witness").stderr, "what is not built is named")
    check(b"verify?" in run("verfy").stderr, "the nearest command is named")
    for what in (["--help"], ["verify", "--help"], ["show", "-h"]):
        done = run(*what)
        check(done.returncode == 0 and b"exit codes" in done.stdout, f"help: {' '.join(what)}")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "verify", f"{TOP}/a", "--key", KEY], stdout=full, stderr=subprocess.PIPE,
                              check=False)
        check(done.returncode == 2, "a report that cannot be written is not exit 0")


def pins():
    lay(GOLDEN)
    mine = f"{TOP}/home/.config/bailiff/{LOG_ID}"
    os.makedirs(mine)
    with open(f"{mine}/log.vkey", "wb") as f:
        f.write(GOLDEN["vkey"])
    with open(f"{TOP}/a/log.vkey", "wb") as f:
        f.write(GOLDEN["vkey"])
    if os.geteuid() != 0:
        print("skip  pins of other accounts: not root")
        return
    subprocess.run(["chmod", "-R", "a+rX", TOP], check=True)
    done = run("verify", "a", user=NOBODY, home=f"{TOP}/home")
    check(done.returncode == 0 and done.stdout.endswith(b"Assurance: pin: local key, keys: files, local\n"),
          "an account's own pin is taken and named")
    check(run("verify", "a", user=NOBODY, home=TOP).returncode == 2, "a key in the log folder is never taken")
    os.chmod(f"{mine}/log.vkey", 0o664)
    check(run("verify", "a", user=NOBODY, home=f"{TOP}/home").returncode == 2, "a pin that a group may write is refused")
    os.chmod(f"{mine}/log.vkey", 0o644)
    other = vectors.load("negative.jsonl")
    name = next(v for v in other if v["name"] == "logkey-other")
    lay(vectors.apply(name, GOLDEN))
    check(run("verify", "a", user=NOBODY, home=f"{TOP}/home").returncode == 1, "a log of the same id by another key")
    lay({**GOLDEN, "log.jsonl": b""})
    check(run("verify", "a", user=NOBODY, home=f"{TOP}/home").returncode == 2, "an empty log names no pin")
    lay(GOLDEN)
    if os.path.exists(f"{PINS}/{LOG_ID}"):
        print(f"skip  root's pin: {PINS}/{LOG_ID} is there already")
        return
    made = [p for p in ("/etc/bailiff", PINS, f"{PINS}/{LOG_ID}") if not os.path.exists(p)]
    try:
        os.makedirs(f"{PINS}/{LOG_ID}")
        with open(f"{PINS}/{LOG_ID}/log.vkey", "wb") as f:
            f.write(GOLDEN["vkey"])
        os.chmod(f"{PINS}/{LOG_ID}/log.vkey", 0o644)
        check(run("verify", "a", home=f"{TOP}/home").returncode == 0, "root's pin is taken")
        shutil.move(f"{PINS}/{LOG_ID}/log.vkey", f"{TOP}/elsewhere")
        os.symlink(f"{TOP}/elsewhere", f"{PINS}/{LOG_ID}/log.vkey")
        check(run("verify", "a", home=f"{TOP}/home").returncode == 2, "a pin that is a link is refused")
    finally:
        shutil.rmtree(f"{PINS}/{LOG_ID}", ignore_errors=True)
        for path in reversed(made):
            if os.path.isdir(path) and not os.listdir(path):
                os.rmdir(path)


def folders():
    state = f"{TOP}/state"
    os.makedirs(state)
    lay(GOLDEN, f"{state}/audit")
    for name in ("results", "policies"):
        shutil.move(f"{state}/audit/{name}", f"{state}/{name}")
    for more in ([], ["--results"], ["--results", "--deep"], ["--results=", "--strict"]):
        done = run("verify", "state", "--key", KEY, *more)
        check(done.returncode == 0, f"a state directory {' '.join(more)}")
    check(b"2 folders checked" in run("verify", "state", "--key", KEY, "--results").stdout, "its results are found")
    os.unlink(f"{state}/results/r_8899aabbccddeeff0011223344556677/stdout")
    check(run("verify", "state", "--key", KEY, "--results").returncode == 1, "and missing ones are seen")
    check(run("verify", "state", "--key", KEY).returncode == 0, "but only when asked for")
    with open(f"{TOP}/policy.json", "wb") as f:
        f.write(b'{"preset":"default"}\n')
    check(run("verify", "state", "--key", KEY, "--policy", "policy.json").returncode == 0, "the policy file that ran")
    with open(f"{TOP}/policy.json", "ab") as f:
        f.write(b" ")
    check(run("verify", "state", "--key", KEY, "--policy", "policy.json").returncode == 1, "another policy file")
    lines = GOLDEN["log.jsonl"].split(b"\n")

    def segments(*parts):
        lay(GOLDEN)
        os.unlink(f"{TOP}/a/log/000000.jsonl")
        for i, part in parts:
            with open(f"{TOP}/a/log/{i:06d}.jsonl", "wb") as f:
                f.write(part)
        return run("verify", "a", "--key", KEY).returncode

    first, second, third = (b"\n".join(x) + b"\n" for x in (lines[:3], lines[3:7], lines[7:10]))
    check(segments((0, first), (1, second), (2, third)) == 0, "one log in three segments")
    check(segments((0, first), (1, b""), (2, second + third)) == 0, "an empty segment between")
    check(segments((0, first), (2, third)) == 1, "a segment is missing")
    check(segments((0, first), (1, third), (2, second)) == 1, "two segments are exchanged")
    check(segments((0, first + second[:100]), (1, second[100:] + third)) == 1, "a line over two segments")
    lay(GOLDEN)
    os.rename(f"{TOP}/a/log/000000.jsonl", f"{TOP}/log")
    check(run("verify", "a", "--key", KEY).returncode == 2, "no first segment: nothing to verify")
    os.symlink(f"{TOP}/log", f"{TOP}/a/log/000000.jsonl")
    check(run("verify", "a", "--key", KEY).returncode == 2, "a segment that is a link is not followed")
    os.unlink(f"{TOP}/a/log/000000.jsonl")
    os.mkfifo(f"{TOP}/a/log/000000.jsonl")
    check(run("verify", "a", "--key", KEY).returncode == 2, "a FIFO for a log does not hang")
    lay(GOLDEN)
    os.unlink(f"{TOP}/a/checkpoint")
    os.mkfifo(f"{TOP}/a/checkpoint")
    check(run("verify", "a", "--key", KEY).returncode in (1, 2), "a FIFO for a checkpoint does not hang")


def lock():
    for name, what in (("open-intent", b"state.open"), ("torn-tail", b"log.tail")):
        lay(vector(name))
        check(run("verify", "a", "--key", KEY).returncode == 5, f"{name}: INCOMPLETE while no signer runs")
        with open(f"{TOP}/a/lock", "w", encoding="ascii") as f:
            check(run("verify", "a", "--key", KEY).returncode == 5, f"{name}: a lock file that nobody holds is no signer")
            fcntl.flock(f, fcntl.LOCK_EX)
            done = run("verify", "a", "--key", KEY)
            check(done.returncode == 0 and b"WARN  " + what in done.stdout, f"{name}: WARN while the signer runs")
            check(run("verify", "a", "--key", KEY, "--strict").returncode == 3, f"{name}: 3 with --strict")
            # Reading must never keep a signer from its lock.
            fcntl.flock(f, fcntl.LOCK_UN)
            run("verify", "a", "--key", KEY)
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lay(vector("in-flight-forged"))
    check(run("verify", "a", "--key", KEY).returncode == 1, "records beyond the checkpoint are checked one by one")


def follow():
    """A followed log shows what is there, then what comes, and waits for the end of a line."""
    lines = GOLDEN["log.jsonl"].splitlines(keepends=True)
    lay({**GOLDEN, "log.jsonl": lines[0] + lines[1]})
    with subprocess.Popen([PROGRAM, "show", f"{TOP}/a", "--follow", "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={"HOME": TOP}) as p:
        seen = [p.stdout.readline(), p.stdout.readline()]
        with open(f"{TOP}/a/log/000000.jsonl", "ab", buffering=0) as f:
            f.write(lines[2] + lines[3][:200])
            seen.append(p.stdout.readline())
            f.write(lines[3][200:])
            seen.append(p.stdout.readline())
        with open(f"{TOP}/a/log/000001.jsonl", "wb") as f:
            f.write(lines[4])
        seen.append(p.stdout.readline())
        running = p.poll() is None
        p.terminate()
        check(seen == lines[:5] and running and p.stderr.read() == b"", "--follow shows each record once it is whole")


def show():
    lay(GOLDEN)
    intents = sum(b'"type":"intent"' in line for line in GOLDEN["log.jsonl"].splitlines())
    done = run("show", "a")
    check(done.returncode == 0 and done.stdout.count(b"\n") == 10, "one line a record")
    starts = {len(line[:line.index(b"  2026")]) for line in done.stdout.splitlines()}
    check(len(starts) == 1, "its columns are aligned")
    for words_, n in ((["--type", "denial"], 2), (["--status", "timeout"], 1), (["--since", "2026-11-30T18:00:05"], 5),
                      (["--req", "r_00112233445566778899aabbccddeeff"], 2), (["--since", "2026"], 10),
                      (["--until", "2026-11-30T18:00:05"], 5), (["--until", "2026-11-30"], 0), (["--decision", "deny"], 2),
                      (["--decision", "allow", "--lang", "python"], 1), (["--uid", "1000"], 2 + intents), (["--uid", "100"], 0),
                      (["--rule", "path"], 1), (["--rule", "path.traversal"], 1), (["--rule", "pat"], 0),
                      (["--rule", "path.traversal", "--uid", "0"], 0)):
        check(run("show", "a", *words_).stdout.count(b"\n") == n, f"show {' '.join(words_)}: {n}")
    done = run("show", "a", "--seq", "2")
    check(b"\n  status ok\n" in done.stdout and b"\n  stdout\n    sha256 " in done.stdout, "one record with its fields")
    done = run("show", "a", "--json")
    check(done.stdout == GOLDEN["log.jsonl"], "--json is what is stored, byte for byte")
    check(run("show", "a", "--seq", "99").returncode == 1, "nothing matches: 1")
    with open(f"{TOP}/a/log/000000.jsonl", "ab") as f:
        f.write(b'{"sig":"\x1b[31m"}\n')
    done = run("show", "a")
    check(done.returncode == 1 and done.stdout.count(b"\n") == 10 and b"\x1b" not in done.stderr + done.stdout,
          "a line that is no record ends it, and is never printed raw")


def confinement():
    """Stopped in mid output by a full pipe, the reader is as confined as it says."""
    lay(vector("line-65535"))
    with subprocess.Popen([PROGRAM, "show", f"{TOP}/a", "--json"], stdout=subprocess.PIPE, env={"HOME": TOP}) as p:
        try:
            # Wait for the write that blocks; how long that takes does not matter.
            for _ in range(3000):
                with open(f"/proc/{p.pid}/wchan", encoding="ascii") as f:
                    if "pipe" in f.read():
                        break
                time.sleep(0.01)
            with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
            held = int(status["CapEff"], 16)
            check(status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", "seccomp filter and no_new_privs")
            check(held in (0, 1 << 2), "no capability but CAP_DAC_READ_SEARCH")
        finally:
            p.kill()
    done = run("verify", "a", "--key", KEY, "--json")
    check(json.loads(done.stdout)["verdict"] == "VERIFIED", "verify --json is one JSON object")


try:
    words()
    folders()
    lock()
    show()
    follow()
    confinement()
    pins()
finally:
    shutil.rmtree(TOP, ignore_errors=True)
print(f"{len(FAULTS)} faults" if FAULTS else "all passed")
sys.exit(1 if FAULTS else 0)
