"""Field cases: what people reported of products that run other people's code.

    test_field.py BUILD_DIR SOURCE_DIR [WORD]    WORD: cases whose id or kind it is

cases.jsonl tells each symptom in neutral names; here they are mapped to `bailiff run` and `bailiff mcp`.  A case whose language or feature is
not here is skipped by name.  Prints a line a case that failed, then a table by kind.
"""
import base64
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time
from urllib.parse import unquote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "service"))
import mcp_case  # noqa: E402
from lib import BAILIFF, LIBEXEC, PATIENCE_S, SOURCE, Place, clean, need_root, parent, pids, wait_for  # noqa: E402

# Cases that we answer otherwise, and why.  Tried all the same: one that passes is no longer known to fail.
KNOWN = {
    "O31": "java takes the first class of the file; javac would look for the one with main",
    "O84": "a root of the policy that is a link is refused; the policy names the folder itself",
    "O33": "a bash script runs byte for byte, so that what is hashed is what runs; carriage returns are its own",
}
EXTENSIONS = {"python": "py", "bash": "sh", "javascript": "js", "ruby": "rb", "r": "R", "java": "java", "c": "c", "cpp": "cpp", "go": "go"}


class Skip(Exception):
    """Not tried, for a reason that is printed."""


class Wrong(Exception):
    """Not what the case wants."""


def want(good, what, *more):
    if not good:
        raise Wrong(" ".join(str(w) for w in (what, *more)))


def cases():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.jsonl")
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def missing():
    """Languages that a policy can allow -> what is missing, or None."""
    done = subprocess.run([BAILIFF, "languages", "--json"], capture_output=True, timeout=PATIENCE_S, check=True)
    return {one["name"]: None if one["available"] else one["package"] for one in json.loads(done.stdout)["languages"]}


class Host:
    """A service for each set of limits that a request cannot name."""

    def __init__(self):
        self.places = {}
        self.languages = missing()

    def place(self, limits):
        key = tuple(sorted((k, limits[k]) for k in ("pids", "cpu_ms", "output_bytes") if k in limits))
        if key not in self.places:
            self.places[key] = Place(**self.policy(dict(key)))
        return self.places[key]

    def roots(self, name):
        """A folder R and a link L to it; the policy's root is the one of that name.  A link in it leads out."""
        if name not in self.places:
            self.places[name] = place = Place(**self.policy({}))
            real, link = place.path("R"), place.path("L")
            os.mkdir(real)
            os.symlink(real, link)
            os.symlink("/etc/passwd", os.path.join(real, "notes.txt"))
            with open(os.path.join(real, "in.txt"), "w", encoding="ascii") as f:
                f.write("in\n")
            place.policy = place.write_policy("roots.json", **self.policy({}), paths={"read": [place.path(name)]})
        return self.places[name]

    def policy(self, limits):
        over = {"code": {"default": 2 << 20}}
        if "pids" in limits:
            over["pids"] = {"default": limits["pids"], "max": max(limits["pids"], 256)}
        if "cpu_ms" in limits:
            over["cpu_ms"] = {"default": limits["cpu_ms"]}
        if "output_bytes" in limits:
            over["stdout"] = over["stderr"] = {"default": limits["output_bytes"]}
        languages = {name: {"capabilities": {"subprocess": True, "exec_memory": True}}
                     for name, lacks in self.languages.items() if lacks is None}
        return {"limits": over, "languages": languages}

    def need(self, language):
        if language not in self.languages:
            raise Skip(f"no language {language}")
        if self.languages[language] is not None:
            raise Skip(f"{language}: apt-get install {self.languages[language]}")


def words_of(request, limits, place, code):
    words = ["--lang", request["language"], "--json"]
    if "wall_ms" in limits:
        words += ["--timeout", str(limits["wall_ms"] / 1000)]
    if "memory_mb" in limits:
        words += ["--memory", str(limits["memory_mb"])]
    for i, one in enumerate(request.get("files") or []):
        source = place.path(f"put-{i}")
        with open(source, "w", encoding="utf-8") as f:
            f.write(one["content"])
        words += ["--put", f"{source}:{one['path']}"]
    for path in request.get("input_paths") or []:
        words += ["--file", path.replace("{{ALLOWED_ROOT}}", place.path("R")).replace("{{ALLOWED_LINK}}", place.path("L"))]
    return ["run", *words, code, "--", *request.get("args", [])]


class Answer:
    """What came of a request, in the cases' words."""

    def __init__(self, done, seconds, closed=False):
        self.seconds, self.exit, self.err = seconds, done.returncode, done.stderr
        self.reply = json.loads(done.stdout) if done.stdout else None
        if closed:
            want(self.exit == 125 and b"sandbox cannot be built: step " in self.err, "a closed host:", self.exit, self.err)
            self.outcome, self.code, self.signal = self.reply["status"], None, None
            self.out, self.stderr, self.truncated = (self.reply["stdout"] or "").encode(), self.err, False
            return
        want(self.reply is None or self.reply["decision"] is not None, "no decision:", done.stdout[-300:])
        if self.reply is None or not self.reply["decision"]["allow"]:
            self.outcome, self.code, self.signal = "denied", None, None
            self.out, self.stderr, self.truncated = b"", done.stderr + done.stdout, False
            return
        self.outcome = {"cancelled": "killed", "aborted": "killed"}.get(self.reply["status"], self.reply["status"])
        self.signal = self.reply["signal"]
        self.code = self.reply["exit_code"] if self.signal is None else 128 + self.signal
        self.out, self.stderr = self.stream("stdout"), self.stream("stderr")
        self.truncated = self.reply["stdout_truncated"] or self.reply["stderr_truncated"]

    def stream(self, name):
        text = self.reply[name]
        return base64.b64decode(self.reply[name + "_base64"]) if text is None else text.encode()

    def files(self):
        """Name -> bytes of what the program left."""
        top = os.path.join(self.reply["result_folder"], "files")
        found = {}
        for here, _, names in os.walk(top):
            for name in names:
                path = os.path.join(here, name)
                with open(path, "rb") as f:
                        found[unquote(os.path.relpath(path, top))] = f.read()
        return found


def run(host, case, request, name=0):
    limits = {**(case.get("limits") or {}), **(request.get("limits") or {})}
    host.need(request["language"])
    for word in ("libraries", "env", "preload"):
        if word in request:
            raise Skip(f"no {word} in a request")
    if not isinstance(limits.get("wall_ms", 0), int):
        raise Skip("an option is text anyway")
    if limits.get("network"):
        raise Skip("no network")
    paths = "".join(request.get("input_paths") or [])
    place = host.roots("L" if "LINK" in paths else "R") if paths else host.place(limits)
    closed = case.get("setup") == "host refuses new namespaces"
    # A service of its own, which has to start there.
    place = Place() if closed else place
    host.places.update({"closed": place} if closed else {})
    before = [sys.executable, os.path.join(os.path.dirname(__file__), "closed_host.py")] if closed else []
    extension = EXTENSIONS[request["language"]]
    source = place.path(f"{case['id']}-{name}.{extension}")
    with open(source, "w", encoding="utf-8", newline="") as f:
        f.write(request["code"])
    words = words_of(request, limits, place, source)
    text = case.get("stdin")
    started = time.monotonic()
    done = subprocess.run([*before, BAILIFF, words[0], "--policy", place.policy, "--state", place.state, *words[1:]],
                          input=(text or "").encode(), capture_output=True, timeout=PATIENCE_S, check=False,
                          env={**os.environ, **(case.get("host_env") or {})})
    return Answer(done, time.monotonic() - started, closed)


def judge_streams(expect, a):
    for name, got in (("stdout", a.out), ("stderr", a.stderr)):
        if name in expect:
            want(got == expect[name].encode(), name, got[-300:], "not", repr(expect[name])[:300])
        for text in as_list(expect.get(name + "_contains")):
            want(text.encode() in got + (a.err if name == "stderr" else b""), name, got[-300:], "lacks", text)
        for text in as_list(expect.get(name + "_not_contains")):
            want(text.encode() not in got, name, "holds", text)
        if name + "_any" in expect:
            want(got in [t.encode() for t in expect[name + "_any"]], name, got[-300:])
        if name + "_len" in expect:
            want(len(got) == expect[name + "_len"], name, "is", len(got), "bytes")
        if name + "_max_bytes" in expect:
            want(len(got) <= expect[name + "_max_bytes"], name, "is", len(got), "bytes")
        if name + "_bytes_hex" in expect:
            want(got.hex() == expect[name + "_bytes_hex"], name, got.hex()[:80])


def as_list(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def judge_files(expect, a):
    found = a.files() if any(k.startswith("artifact") for k in expect) else {}
    if expect.get("artifacts") == []:
        want(not found, "left", list(found))
    for one in expect.get("artifacts") or []:
        want(one["path"] in found, "no file", one["path"], "in", list(found))
        if "content" in one:
            want(found[one["path"]] == one["content"].encode(), "content of", one["path"])
        if "magic_hex" in one:
            want(found[one["path"]].hex().startswith(one["magic_hex"]), "begin of", one["path"])
    if "artifacts_min" in expect:
        want(len(found) >= expect["artifacts_min"], "left", list(found))
    if "artifact_absent_content" in expect:
        want(all(expect["artifact_absent_content"].encode() not in data for data in found.values()), "a secret is kept")
    if "artifacts_truncated" in expect:
        want((a.reply["use"]["files_skipped"] > 0) == expect["artifacts_truncated"], "skipped", a.reply["use"])


def judge(expect, a):
    if "outcome" in expect:
        want(a.outcome == expect["outcome"], "outcome", a.outcome, "not", expect["outcome"], a.stderr[-300:], a.err[-300:])
    if "outcome_any" in expect:
        want(a.outcome in expect["outcome_any"], "outcome", a.outcome, a.stderr[-300:])
    if "outcome_not" in expect:
        want(a.outcome not in as_list(expect["outcome_not"]), "outcome", a.outcome)
    if "exit_code" in expect and a.outcome != "denied":
        want(a.code == expect["exit_code"], "exit code", a.code, a.stderr[-300:])
    if "exit_code_any" in expect:
        want(a.code in expect["exit_code_any"], "exit code", a.code)
    if "exit_code_not" in expect:
        want(a.code not in as_list(expect["exit_code_not"]), "exit code", a.code)
    if "signal" in expect:
        want(a.signal == expect["signal"], "signal", a.signal)
    judge_streams(expect, a)
    if "truncated" in expect:
        want(a.truncated == expect["truncated"], "truncated", a.truncated)
    if "peak_memory_max_mb" in expect:
        want(a.reply["use"]["memory_peak"] <= expect["peak_memory_max_mb"] << 20, "peak", a.reply["use"]["memory_peak"])
    if a.outcome != "denied":
        judge_files(expect, a)


def strangers(place):
    """Processes below the launcher that are not its own program: those of runs."""
    family, found = set(place.launchers()), []
    for pid in sorted(pids()):
        if parent(pid) in family:
            family.add(pid)
            try:
                if not os.readlink(f"/proc/{pid}/exe").startswith(LIBEXEC):
                    found.append(pid)
            except OSError:
                pass
    return found


def no_survivors(host):
    wait_for(lambda: not any(strangers(p) for p in host.places.values()), "the end of a run's processes", 1)


def steps(host, case, request):
    """Runs one after the other, without a session."""
    expect = case["expect"]
    for i, step in enumerate(request["steps"]):
        a = run(host, case, step, i)
        want(a.outcome == expect.get("outcome", "ok"), "step", i, a.outcome, a.stderr[-300:])
        if "stdout_by_step" in expect:
            want(a.out == expect["stdout_by_step"][i].encode(), "step", i, a.out)
        if "artifacts_by_step" in expect:
            want(sorted(a.files()) == expect["artifacts_by_step"][i], "step", i, list(a.files()))


def at_once(host, case):
    """The same code many times at once, its number in it."""
    n = case["concurrent"]
    run(host, case, {"language": case["language"], "code": ""})
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        answers = list(pool.map(lambda i: run(host, case, {
            "language": case["language"], "code": case["code"].replace("{{N}}", str(i))}, i), range(n)))
    for i, a in enumerate(answers):
        judge({**case["expect"], "stdout": case["expect"]["each_stdout"].replace("{{N}}", str(i))}, a)


def one(host, case):
    request = case.get("request") or {k: case[k] for k in ("language", "code", "files", "args") if k in case}
    if request.get("via") == "mcp":
        mcp_case.run(host.place({}), case, want)
        if case["expect"].get("no_survivors"):
            no_survivors(host)
        return None
    if "then" in request:
        raise Skip("bent logs are the matter of tests/audit")
    for module in case.get("requires", ()):
        if subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
            raise Skip(f"no module {module} on this host")
    if "steps" in request:
        return steps(host, case, request)
    if "concurrent" in case:
        return at_once(host, case)
    if any(key.startswith("artifact") for key in case["expect"]):
        host.need(request["language"])
        judge_files(case["expect"], mcp_case.Files(host.place({}), request["language"], request["code"]))
    for i in range(case.get("repeat", 1)):
        judge(case["expect"], run(host, case, request, i))
        if case["expect"].get("no_survivors"):
            no_survivors(host)
    return None


def undecided():
    """Cases that leave the answer open, or that we answer otherwise, without a row in docs/decisions.md."""
    with open(os.path.join(SOURCE, "docs", "decisions.md"), encoding="utf-8") as f:
        rows = set(re.findall(r"O\d+", " ".join(line.split("|")[1] for line in f if line.startswith("| O"))))
    open_ones = {c["id"] for c in cases() if "outcome_any" in c["expect"]} | set(KNOWN)
    return sorted(open_ones ^ rows)


def main():
    need_root()
    if undecided():
        print(f"FAIL docs/decisions.md and the cases differ about {', '.join(undecided())}")
        sys.exit(1)
    word = sys.argv[3] if len(sys.argv) > 3 else None
    host = Host()
    table = collections.defaultdict(collections.Counter)
    for case in cases():
        if word not in (None, case["id"], case["kind"]):
            continue
        try:
            one(host, case)
            result = "ok"
        except Skip as why:
            result = "skip"
            print(f"skip {case['id']} {case['kind']}: {why}")
            if case["id"] in KNOWN:
                result = "FAIL"
                print(f"FAIL {case['id']} {case['kind']}: passes now; take it out of KNOWN")
        except (Wrong, AssertionError) as why:
            result = "other" if case["id"] in KNOWN else "FAIL"
            if result == "other":
                why = KNOWN[case["id"]]
            print(f"{result} {case['id']} {case['kind']} {case.get('language', '')}: {why}", flush=True)
        table[case["kind"]][result] += 1
    clean()
    for kind, row in table.items():
        print(f"{kind:18} ok {row['ok']:3}  failed {row['FAIL']:3}  answered otherwise {row['other']:3}  skipped {row['skip']:3}")
    sys.exit(1 if any(row["FAIL"] for row in table.values()) else 0)


main()
