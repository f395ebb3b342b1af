"""Generated paths against a slow model, written without a look at the product:
100,000 by the decision alone, and on generated trees by the decision and then
the opener, as a principal that owns only part of them.

    test_path_model.py BUILD_DIR SOURCE_DIR

The seed is printed; BAILIFF_TEST_SEED=N repeats a run, BAILIFF_TEST_LONG=1
draws another seed and ten times the trees.
"""
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile

BUILD = sys.argv[1]
LINES = BUILD + "/tests/decide_lines"
LANGUAGES = BUILD + "/share/bailiff/languages"
DRIVER = BUILD + "/tests/opener_driver"
OPENER = BUILD + "/libexec/bailiff/bailiff-opener"
ALICE, BOB = 1900064001, 1900064002
LONG = bool(os.environ.get("BAILIFF_TEST_LONG"))
SEED = int(os.environ.get("BAILIFF_TEST_SEED", "0")) or (
    random.SystemRandom().randrange(1, 2**32) if LONG else 20261130)
POLICIES, PATHS = 100, 1000
TREES, ASKS = (200, 25) if LONG else (20, 25)
LIMIT = 1000  # bytes of a file
failures = 0

# One code point is enough where a rule is about kinds of characters.
ODD = {"\n", "\r", "\t", "\x1b", "\x01", "\x7f", "\x85", "\u200b", "\u202e",
       "\u2028", "\u2066", "\ufeff"}


def case(name, ok, detail=""):
    global failures
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": %s" % detail),
          flush=True)
    failures += not ok


# The model ------------------------------------------------------------------

def text_faults(path):
    faults = set()
    words = path.split("/")
    if words[0] != "" or path == "":
        faults.add("path.not_absolute")
    if ".." in words:
        faults.add("path.traversal")
    if "." in words or "" in words[1:]:
        faults.add("path.component")
    if any(len(word.encode()) > 255 for word in words):
        faults.add("path.component")
    if len(path.encode()) > 4095 or any(c in ODD for c in path):
        faults.add("path.component")
    return faults


def root_of(path, roots):
    """The deepest of the roots that 'path' lies beneath."""
    words = path.split("/")
    found = [root for root in roots
             if words[:len(root.split("/"))] == root.split("/") and
             len(words) > len(root.split("/"))]
    return max(found, key=len, default=None)


def decided(path, roots):
    """(reasons, root, rest) that the decision must give."""
    faults = text_faults(path)
    if faults:
        return faults, None, None
    root = root_of(path, roots)
    if root is None:
        return {"path.outside_root"}, None, None
    return set(), root, path[len(root) + 1:]


def may(st, bit):
    """Of ALICE, who is in no group of anybody."""
    shift = 6 if st.st_uid == ALICE else 3 if st.st_gid == ALICE else 0
    return bool(st.st_mode >> shift & bit)


def opened(root, rest):
    """What the opener must answer: one component after the other."""
    here = root
    device = os.lstat(root).st_dev
    words = rest.split("/")
    for i, word in enumerate(words):
        if not may(os.lstat(here), 1):
            return "path.unreadable"
        here += "/" + word
        try:
            st = os.lstat(here)
        except OSError:
            return "path.missing"
        if st.st_dev != device:
            return "path.outside_root"
        if stat.S_ISLNK(st.st_mode):
            return "path.link"
        if i + 1 < len(words) and not stat.S_ISDIR(st.st_mode):
            return "path.missing"
    if not stat.S_ISREG(st.st_mode):
        return "path.not_regular"
    if st.st_size > LIMIT:
        return "path.too_large"
    return "opened" if may(st, 4) else "path.unreadable"


# What is generated ----------------------------------------------------------

NAMES = ["data", "data2", "dat", "x", "deep", "a b", "..a", "...", "%2e%2e",
         "~", "\\", "\uff0e\uff0e", "-rf", "$HOME", "é", "sub", "f"]
PIECES = ["/", "//", "/./", "/../", ".", "..", "\n", "\x7f", "\u202e", "\x85",
          "\x1b", " ", "n" * 256, "/" + "n" * 255, "2"]


def draw_path(rng, roots):
    path = rng.choice(roots + ["", "/etc", "/proc/self/root"])
    for _ in range(rng.randrange(6)):
        path += rng.choice(PIECES) if rng.random() < 0.3 else \
            "/" + rng.choice(NAMES)
    if rng.random() < 0.01:
        path += ("/" + "n" * 200) * 21
    return path


def draw_roots(rng):
    roots = []
    for _ in range(rng.randrange(1, 7)):
        base = rng.choice(roots + ["", ""])
        roots.append(base + "".join("/" + rng.choice(NAMES)
                                    for _ in range(rng.randrange(1, 3))))
    return sorted(set(roots))


def ask_decisions(work, roots, paths):
    """One line of decide_lines for each path."""
    policy = os.path.join(work, "policy.json")
    with open(policy, "w", encoding="utf-8") as f:
        json.dump({"version": 1, "name": "t", "languages": {"bash": {}},
                   "paths": {"read": roots}}, f)
    os.chmod(policy, 0o644)
    lines = "".join(json.dumps({"language": "bash", "code": 1, "inputs": [
        {"file": path, "name": "n"}]}) + "\n" for path in paths)
    done = subprocess.run([LINES, policy, LANGUAGES], input=lines.encode(),
                          capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise RuntimeError("%r: %s" % (roots, done.stderr.decode()))
    # A backslash of a path is no end of a line; nothing allowed has controls.
    answers = done.stdout.decode().split("\n")[:-1]
    if len(answers) != len(paths):
        raise RuntimeError("%d answers of %d" % (len(answers), len(paths)))
    return [answer.split("\t") for answer in answers]


def differs(path, roots, answer):
    """None, or how the decision differs from the model."""
    reasons, root, rest = decided(path, roots)
    want = ["deny" if reasons else "allow", ",".join(sorted(reasons)),
            "language.bash" + ("" if reasons else ",path.read"),
            root or "-", rest or "-"]
    return None if answer == want else "%r with %r: %r, the model says %r" % (
        path, roots, answer, want)


def decisions(work):
    rng = random.Random(SEED)
    allowed = 0
    wrong = []
    for _ in range(POLICIES):
        roots = draw_roots(rng)
        paths = [draw_path(rng, roots) for _ in range(PATHS)]
        for path, answer in zip(paths, ask_decisions(work, roots, paths)):
            allowed += answer[0] == "allow"
            fault = differs(path, roots, answer)
            if fault is not None:
                wrong.append(fault)
    print("%d paths, %d allowed" % (POLICIES * PATHS, allowed))
    case("100,000 decisions agree with the model", not wrong and
         allowed > 5000, wrong[:5])


def make_entry(rng, path, folders):
    kind = rng.random()
    if kind < 0.35:
        os.mkdir(path)
        folders.append(path)
    elif kind < 0.7:
        with open(path, "wb") as f:
            f.truncate(rng.choice([0, 10, LIMIT, LIMIT + 1]))
    elif kind < 0.9:
        os.symlink(rng.choice(["f", "..", ".", "/etc/passwd", "data", "nowhere",
                               "../x", folders[0], os.path.basename(path)]),
                   path)
        return
    elif kind < 0.95:
        os.mkfifo(path)
    else:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    owner = rng.choice([ALICE, ALICE, ALICE, BOB])
    os.chown(path, owner, owner)
    os.chmod(path, rng.choice([0o755, 0o755, 0o644, 0o700, 0o000, 0o711]))


def make_tree(rng, top):
    """Some entries, and names that may be there."""
    os.mkdir(top, 0o755)
    os.chown(top, ALICE, ALICE)
    folders = [top]
    found = []
    for _ in range(30):
        path = rng.choice(folders) + "/" + rng.choice(NAMES)
        if path.count("/") < 12 and not os.path.lexists(path):
            make_entry(rng, path, folders)
            found.append(path)
    return folders, found


def ask_opener(root, beneath):
    done = subprocess.run(
        [DRIVER, OPENER, root, root, beneath, str(LIMIT), str(ALICE),
         str(ALICE)], capture_output=True, timeout=120, check=False)
    words = done.stdout.decode().split()
    return words[0] if words[:1] == ["opened"] else " ".join(words[1:2])


def mount_in(rng, folders):
    """A file system of its own on one of the folders, or None."""
    point = rng.choice(folders) if folders else None
    if point is None or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "bailiff-test",
             point], capture_output=True, check=False).returncode != 0:
        return None
    with open(point + "/f", "w", encoding="utf-8") as f:
        f.write("x")
    return point


def one_tree(rng, work, seen):
    top = os.path.join(work, "top")
    folders, found = make_tree(rng, top)
    inner = rng.choice(folders)
    roots = sorted({top, inner})
    point = mount_in(rng, [f for f in folders if not any(
        (root + "/").startswith(f + "/") for root in roots)])
    if point is not None:
        found.append(point + "/f")
    try:
        paths = []
        for _ in range(ASKS):
            path = rng.choice(found)
            if rng.random() < 0.4:
                path = draw_path(rng, found + roots)
            elif rng.random() < 0.3:
                path += "/" + rng.choice(NAMES)
            paths.append(path)
        for path, answer in zip(paths, ask_decisions(work, roots, paths)):
            fault = differs(path, roots, answer)
            if fault is not None:
                return fault
            if answer[0] == "deny":
                continue
            root, rest = answer[3], answer[4]
            got, want = ask_opener(root, rest), opened(root, rest)
            # Without search permission the way to the root is closed too.
            if not reachable(root):
                want = "path.unreadable"
            seen[want] = seen.get(want, 0) + 1
            if got != want:
                return "%r beneath %r: %s, the model says %s" % (
                    rest, root, got, want)
    finally:
        if point is not None:
            subprocess.run(["umount", point], check=True)
        shutil.rmtree(top)
    return None


def reachable(root):
    words = root.split("/")
    return all(may(os.lstat("/".join(words[:n]) or "/"), 1)
               for n in range(1, len(words)))


def trees(work):
    rng = random.Random(SEED)
    seen = {}
    wrong = [fault for fault in (one_tree(rng, work, seen)
                                 for _ in range(TREES)) if fault]
    print("answers of the opener: %s" % sorted(seen.items()))
    case("on generated trees decision and opener agree with the model",
         not wrong, wrong[:3])
    case("and every kind of answer was among them", LONG or set(seen) >= {
        "opened", "path.link", "path.missing", "path.not_regular",
        "path.too_large", "path.unreadable"}, seen)


def main():
    print("BAILIFF_TEST_SEED=%d" % SEED)
    work = tempfile.mkdtemp(prefix="bailiff-test-")
    os.chmod(work, 0o755)
    try:
        decisions(work)
        if os.geteuid() == 0:
            trees(work)
        else:
            print("skip generated trees: the opener needs root")
    finally:
        shutil.rmtree(work)
    return 1 if failures else 0


sys.exit(main())
