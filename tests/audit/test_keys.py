"""`bailiff key`: init, show, unlock, rotate and enroll, with keys in plain files
and sealed; what a passphrase, an altered file and a thief meet.  As root, since
the signer then has an account of its own."""
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
BAILIFF = os.path.join(BUILD, "bin/bailiff")
PINS = "/etc/bailiff/keys.d"
FAILED, MADE = [], []
if os.geteuid() != 0:
    print("skipped: needs root, whose signer has an account of its own")
    sys.exit(77)


def check(good, what):
    print(("ok    " if good else "FAIL  ") + what, flush=True)
    if not good:
        FAILED.append(what)
    return good


def bailiff(*words, data=None, env=None, **more):
    r = subprocess.run([BAILIFF, *words], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=env, timeout=120, **more)
    return r.returncode, r.stdout, r.stderr


def with_passphrase(text, *words):
    """The passphrase on a pipe of its own."""
    r, w = os.pipe()
    os.write(w, text)
    os.close(w)
    try:
        return bailiff(*words, "--passphrase-fd", str(r), pass_fds=[r])
    finally:
        os.close(r)


def shown(state):
    code, out, err = bailiff("key", "show", "--state", state)
    return dict(re.split(r"  +", l, maxsplit=1) for l in out.splitlines()) if code == 0 else err


def signer_of(state):
    """The pid in the log's lock."""
    return int(open(os.path.join(state, "audit/lock")).read())


def is_ours(pid, state):
    try:
        return any(os.readlink("/proc/%d/fd/%s" % (pid, f)).startswith(state) for f in os.listdir("/proc/%d/fd" % pid))
    except OSError:
        return False


def end_signer(state):
    """Tell it to stop, and wait for its end."""
    pid = signer_of(state)
    if not is_ours(pid, state):
        return
    fd = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(fd, signal.SIGTERM)
    except ProcessLookupError:
        pass
    import select
    select.select([fd], [], [], 60)
    os.close(fd)


def new_state():
    state = tempfile.mkdtemp(prefix="bailiff-keys-")
    os.chmod(state, 0o700)
    MADE.append(state)
    return state


def remember(state):
    """For the removal of the pin in the end."""
    MADE.append(os.path.join(PINS, shown(state)["log"]))


def wait_for_keys(state, *epochs):
    """They are turned just after the answer."""
    want = {"record-%d.key" % n for n in epochs}
    for _ in range(600):
        if {n for n in os.listdir(state + "/keys") if n.startswith("record")} == want:
            return True
        time.sleep(0.1)
    return False


def types(state):
    import json
    return [json.loads(l)["stmt"]["predicate"] for l in open(os.path.join(state, "audit/log/000000.jsonl"))]


def plain():
    s = new_state()
    check("no log" in shown(s), "show on a state directory without a log says so")
    check(bailiff("key", "rotate", "--state", s)[0] == 1, "rotate too")
    check(bailiff("key", "unlock", "--state", s, data="x\n")[0] == 1, "unlock too")
    code, out, err = bailiff("key", "init", "--state", s)
    check(code == 0, "init makes a log with plain keys: " + out.strip() + err)
    remember(s)
    about = shown(s)
    check(about["keys"] == "files, mode 0600" and about["pinned in"] == "%s/%s/log.vkey" % (PINS, about["log"]), "show says how and where they lie")
    import base64
    import hashlib
    raw = base64.b64decode(about["key"].split("+", 2)[2])
    check(about["fingerprint"] == hashlib.sha256(raw[1:]).hexdigest(), "the fingerprint is the SHA-256 of the public key")
    seed = re.search("seed ([0-9a-f]{64})", open(s + "/keys/log.key").read()).group(1)
    check(seed not in str(about) and raw[1:].hex() != seed, "show prints no secret")
    check(bailiff("key", "init", "--state", s)[0] == 1, "a second init is refused")
    code, out, err = bailiff("key", "rotate", "--state", s)
    check(code == 0 and out == "the epoch ended with record 1\n", "rotate without an open epoch opens and ends one: " + out.strip() + err)
    first = types(s)
    check([r["type"] for r in first] == ["log.open", "epoch.close"] and first[1]["reason"] == "rotate" and first[0]["keys"] == "files", "and the log says why")
    old = wait_for_keys(s, 1, 2)
    code, out, err = bailiff("key", "rotate", "--state", s)
    new = wait_for_keys(s, 2, 3)
    check(code == 0 and old and new, "each uses up the key that lay on the disk")
    code, out, err = bailiff("run", "--state", s, "--lang", "bash", "-c", "echo hello")
    check(code == 0 and out == "hello\n", "a run opens the next epoch " + err)
    code, out, err = bailiff("key", "rotate", "--state", s)
    check(code == 0 and [r["type"] for r in types(s)][-4:] == ["epoch.open", "intent", "outcome", "epoch.close"], "rotate ends the epoch of a running service")
    code, out, err = bailiff("run", "--state", s, "--lang", "bash", "-c", "echo again")
    check(code == 0 and types(s)[-3]["type"] == "epoch.open", "which goes on under the next key " + err)
    bailiff("stop", "--state", s)
    end_signer(s)
    code, out, err = bailiff("audit", "verify", s, "--deep")
    check(code == 0 and out.endswith("Assurance: pin: local key, keys: files, local\n"), "it verifies: " + out.splitlines()[-1] + err)
    check(shown(s)["epoch"] == "3, %d records" % len(types(s)), "show knows the epoch: " + shown(s)["epoch"])


def sealed():
    s = new_state()
    check(bailiff("key", "init", "--state", s, "--seal")[0] == 2, "--seal without a passphrase is a usage error")
    check(with_passphrase(b"\n", "key", "init", "--state", s, "--seal")[2].count("empty") > 0, "an empty passphrase is refused")
    check("1024" in with_passphrase(b"x" * 1025, "key", "init", "--state", s, "--seal")[2], "one of 1,025 bytes too")
    check(not os.path.exists(s + "/keys/log.key"), "and no log was made")
    code, out, err = with_passphrase(b"correct horse\n", "key", "init", "--state", s, "--seal")
    check(code == 0, "init --seal " + err)
    remember(s)
    about = shown(s)
    check(about["keys"].startswith("sealed: argon2id, 2 passes over 64 MiB") and "key" in about, "show prints the public key of sealed keys: " + about["keys"])
    end_signer(s)
    files = {n: open(s + "/keys/" + n).read() for n in os.listdir(s + "/keys")}
    check(sorted(files) == ["log.key", "record-0.key", "record-1.key", "seal"] and not any("\nseed " in f for f in files.values()), "no seed lies in the clear: %s" % sorted(files))
    code, out, err = bailiff("run", "--state", s, "--lang", "bash", "-c", "echo hello")
    check(code == 125 and "bailiff key unlock" in err and err.count("\n") == 1, "a service that finds them closed starts nothing and says what to do: " + err.strip())
    for wrong in ("correct hors\n", "correct horse\n\n", "Correct horse\n"):
        code, out, err = bailiff("key", "unlock", "--state", s, data=wrong)
        check(code == 1 and "does not open log.key" in err, "%r does not open them" % wrong)
    code, out, err = bailiff("key", "unlock", "--state", s, data="correct horse\n")
    check(code == 0, "unlock " + err)
    pid = signer_of(s)
    check(b"horse" not in open("/proc/%d/cmdline" % pid, "rb").read() + open("/proc/%d/environ" % pid, "rb").read(), "the passphrase is in neither argv nor environ")
    check(not memory_holds(pid, b"correct horse"), "nor in the signer's memory, once it has opened them")
    check(bailiff("key", "unlock", "--state", s, data="correct horse\n")[2].count("runs already") == 1, "a second unlock finds it running")
    code, out, err = bailiff("run", "--state", s, "--lang", "bash", "-c", "echo hello")
    check(code == 0 and out == "hello\n", "then a run runs " + err)
    check(bailiff("key", "rotate", "--state", s)[0] == 0 and wait_for_keys(s, 1, 2) and "\nsealed " in open(s + "/keys/record-2.key").read(), "keys that are made later are sealed too")
    bailiff("stop", "--state", s)
    end_signer(s)
    code, out, err = bailiff("audit", "verify", s, "--deep")
    check(code == 0 and out.endswith("Assurance: pin: local key, keys: sealed, local\n"), "it verifies: " + out.splitlines()[-1])
    tampered(s)


def memory_holds(pid, what):
    """Read by root, whom nothing can stop; it shows what was wiped."""
    with open("/proc/%d/maps" % pid) as maps, open("/proc/%d/mem" % pid, "rb", 0) as mem:
        for line in maps:
            a, b = (int(x, 16) for x in line.split()[0].split("-"))
            if " rw" not in line:
                continue
            try:
                mem.seek(a)
                if what in mem.read(b - a):
                    return True
            except (OSError, ValueError):
                pass
    return False


def tampered(s):
    """One change each; the start is refused, and with the old bytes it goes."""
    keys = s + "/keys/"
    names = sorted(n for n in os.listdir(keys) if n.startswith("record"))
    first = open(keys + names[0]).read()
    log = open(keys + "log.key").read()
    seal = open(keys + "seal").read()
    flip = lambda t, at: t[:at] + ("0" if t[at] != "0" else "1") + t[at + 1:]
    changes = [
        ("log.key", flip(log, len(log) - 3), "does not open", "a changed box"),
        ("log.key", flip(log, log.index("log ", 10) + 6), "does not open", "a changed log id above the box"),
        ("log.key", log.replace("localhost", "localhosT"), "does not open", "a changed origin"),
        (names[0], open(keys + names[1]).read(), "does not open", "the box of another epoch"),
        (names[0], "bailiff record key 1\nseed " + "11" * 32 + "\n", "not sealed", "a plain file among sealed ones"),
        ("seal", seal.replace("67108864", "8192"), "memory", "too little memory"),
        ("seal", seal.replace("67108864", "99999999999"), "memory", "too much memory"),
        ("seal", seal.replace(" 2 ", " 99 "), "passes", "too many passes"),
        ("seal", seal.replace(" 2 ", " 02 "), "passes", "another spelling of the same"),
        ("seal", flip(seal, len(seal) - 2), "does not open", "another salt"),
        ("seal", None, "seal is gone", "a seal that is gone"),
    ]
    bad = []
    for name, text, want, what in changes:
        old = open(keys + name).read()
        st = os.stat(keys + name)
        if text is None:
            os.rename(keys + name, s + "/away")
        else:
            open(keys + name, "w").write(text)
        code, out, err = bailiff("key", "unlock", "--state", s, data="correct horse\n")
        if code != 1 or want not in err or err.count("\n") > 2:
            bad.append((what, code, err))
        if code == 0:
            end_signer(s)
        if text is None:
            os.rename(s + "/away", keys + name)
        else:
            open(keys + name, "w").write(old)
        os.chown(keys + name, st.st_uid, st.st_gid)
    check(not bad, "%d changes of sealed keys are refused, each by name %s" % (len(changes), bad[:3]))
    check(bailiff("key", "unlock", "--state", s, "--linger", "0", data="correct horse\n")[0] == 0, "and the old bytes are taken")


def credential():
    """As a service manager hands it over."""
    s = new_state()
    with_passphrase(b"from systemd", "key", "init", "--state", s, "--seal")
    remember(s)
    end_signer(s)
    c = s + "/credentials"
    os.mkdir(c, 0o700)
    open(c + "/bailiff.seal", "w").write("from systemd\n")
    r, w = os.pipe()
    p = subprocess.Popen([os.path.join(BUILD, "libexec/bailiff/bailiff-supervisor"), "--state", s],
        env={"CREDENTIALS_DIRECTORY": c}, preexec_fn=lambda: os.dup2(w, 3), pass_fds=[3], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) if w != 3 else None
    os.close(w)
    line = os.read(r, 4096).decode()
    os.close(r)
    check(line == "ready\n", "a service that gets the credential bailiff.seal starts: " + line.strip())
    try:
        code, out, err = bailiff("run", "--state", s, "--lang", "bash", "-c", "echo hello")
        check(code == 0 and out == "hello\n", "and runs " + err)
        check(not any(os.readlink("/proc/%d/fd/%s" % (p.pid, f)).endswith("bailiff.seal") for f in os.listdir("/proc/%d/fd" % p.pid)), "the supervisor does not keep it open")
    finally:
        bailiff("stop", "--state", s)
        p.wait(60)
        end_signer(s)
    os.rename(c + "/bailiff.seal", c + "/other")
    check(bailiff("run", "--state", s, "--lang", "bash", "-c", "echo hello", env=dict(os.environ, CREDENTIALS_DIRECTORY=c))[0] == 125, "without it the service does not start")


def enroll():
    log = secrets.token_hex(16)
    MADE.append(os.path.join(PINS, log))
    s, s2 = new_state(), new_state()
    for x in (s, s2):
        bailiff("key", "init", "--state", x)
        bailiff("key", "rotate", "--state", x)
        remember(x)
        end_signer(x)
    one, two = shown(s), shown(s2)
    code, out, err = bailiff("key", "enroll", one["key"], "--log", log)
    check(code == 0 and one["fingerprint"] in out and open("%s/%s/log.vkey" % (PINS, log)).read() == one["key"] + "\n", "enroll pins a key and prints its fingerprint " + err)
    check(oct(os.stat("%s/%s/log.vkey" % (PINS, log)).st_mode & 0o7777) == "0o444", "readable by all, writable by none")
    check("was pinned" in bailiff("key", "enroll", one["key"], "--log", log)[1], "the same again changes nothing")
    code, out, err = bailiff("key", "enroll", two["key"], "--log", log)
    check(code == 1 and one["fingerprint"] in err, "another key is refused, and the old fingerprint named")
    check(bailiff("key", "enroll", two["key"], "--log", log, "--replaces", two["fingerprint"])[0] == 1, "also with a wrong --replaces")
    check(bailiff("key", "enroll", two["key"], "--log", log, "--replaces", one["fingerprint"])[0] == 0 and open("%s/%s/log.vkey" % (PINS, log)).read() == two["key"] + "\n", "taken with the old fingerprint")
    check(bailiff("key", "enroll", two["key"], "--log", secrets.token_hex(16), "--replaces", one["fingerprint"])[0] == 1, "--replaces where nothing is pinned is refused")
    for bad in ("x", "../" + log[3:], log.upper() if log.upper() != log else "G" * 32, log + "0"):
        check(bailiff("key", "enroll", one["key"], "--log", bad)[0] == 2, "--log %s is no log id" % bad)
    home = tempfile.mkdtemp(prefix="bailiff-keys-home-")
    MADE.append(home)
    os.chmod(home, 0o777)
    os.chmod(s, 0o755)
    vkey = home + "/vkey"
    open(vkey, "w").write(one["key"] + "\n")
    copy = home + "/copy"
    shutil.copytree(s + "/audit", copy)
    for root, dirs, files in os.walk(copy):
        for n in dirs + files:
            os.chmod(os.path.join(root, n), 0o755)
    os.chmod(copy, 0o755)
    user = {"user": 65534, "group": 65534, "extra_groups": []}
    env = {"HOME": home, "PATH": os.environ["PATH"]}
    if not os.access(BAILIFF, os.X_OK) or subprocess.run(["true"], cwd=BUILD, **user).returncode != 0:
        print("skip  another account: it cannot reach the build tree")
        return
    log = one["log"]
    os.rename("%s/%s" % (PINS, log), "%s/%s.away" % (PINS, log))
    try:
        check(bailiff("audit", "verify", copy, env=env, **user)[0] == 2, "an account that pinned nothing cannot verify")
        code, out, err = bailiff("key", "enroll", vkey, "--log", log, env=env, **user)
        check(code == 0, "it enrolls the key from a file, below its HOME " + err)
        code, out, err = bailiff("audit", "verify", copy, env=env, **user)
        check("pin: local key" in out and code == 0, "and then it can: " + out.splitlines()[-1] if out else err)
    finally:
        os.rename("%s/%s.away" % (PINS, log), "%s/%s" % (PINS, log))


# Points of order 1, 2, 4 and 8, and encodings that are not canonical: for each
# of them some signature verifies under Go, OpenSSL and others.
BAD_POINTS = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


def bad_points():
    import base64
    import hashlib
    log = secrets.token_hex(16)
    MADE.append(os.path.join(PINS, log))
    s = new_state()
    bad = []
    for point in BAD_POINTS:
        raw = b"\1" + bytes.fromhex(point)
        name = "localhost/bailiff/" + log
        vkey = "%s+%s+%s" % (name, hashlib.sha256(name.encode() + b"\n" + raw).hexdigest()[:8], base64.b64encode(raw).decode())
        for words in (("key", "enroll", vkey, "--log", log), ("audit", "verify", SOURCE + "/tests/audit/vectors", "--key", vkey),
                ("audit", "check", s + "/none", "--key", vkey, "--record", s + "/none")):
            code, out, err = bailiff(*words)
            if code == 0 or "point" not in err:
                bad.append((point[:8], words[:2], code, out, err))
    check(not bad, "%d points of small order or in two spellings are refused by enroll, verify and check %s" % (len(BAD_POINTS), bad[:2]))
    check(not os.path.exists("%s/%s" % (PINS, log)), "and nothing was pinned")


try:
    plain()
    sealed()
    credential()
    enroll()
    bad_points()
finally:
    for path in MADE:
        if os.path.exists(os.path.join(path, "audit/lock")):
            end_signer(path)
        shutil.rmtree(path, ignore_errors=True)
sys.exit(1 if FAILED else 0)
