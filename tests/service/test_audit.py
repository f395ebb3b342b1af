"""What a run leaves behind: records, receipts, results that others can check.

Run as: python3 test_audit.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess

from lib import (PATIENCE_S, SOURCE, Place, Skip, call, case, check, equal,
                 main, need_programs, need_root, read, wait_for)


def finished(place):
    place.stop()
    wait_for(lambda: not place.signers(), "the signer's end")


def lines(place):
    folder = os.path.join(place.state, "audit", "log")
    return b"".join(read(os.path.join(folder, name))
                    for name in sorted(os.listdir(folder))).splitlines()


def leaf(line):
    return hashlib.sha256(b"\0" + line).hexdigest()


@case("a run writes log.open, intent and outcome, and they hold together")
def _():
    p = Place()
    code = "open('a','w').write('x');print(1)"
    j = p.json("--lang", "python", "-c", code, "--", "arg", stdin=b"in").json
    found = p.records()
    equal([r["type"] for r in found[:3]], ["log.open", "intent", "outcome"],
          "types")
    for number, record in enumerate(found):
        equal((record["seq"], record["v"]), (number, 1), "seq")
    intent, outcome = found[1], found[2]
    equal((intent["req"], intent["decision"], intent["code"]["lang"],
           intent["code"]["size"], intent["stdin"]["size"],
           intent["args"]["count"]),
          (j["run_id"], "allow", "python", len(code), 2, 1), "intent")
    equal(intent["code"]["sha256"],
          hashlib.sha256(code.encode()).hexdigest(), "code digest")
    equal((outcome["req"], outcome["status"], outcome["phase"],
           outcome["exit"], outcome["files"]["count"]),
          (j["run_id"], "ok", "run", {"code": 0}, 1), "outcome")
    equal(outcome["intent"], {"seq": 1, "leaf": j["intent"]["leaf"]},
          "reference")
    all_lines = lines(p)
    equal((leaf(all_lines[1]), leaf(all_lines[2])),
          (j["intent"]["leaf"], j["audit"]["leaf"]), "leaves")
    equal(outcome["stdout"]["sha256"], hashlib.sha256(b"1\n").hexdigest(),
          "stdout digest")
    check(len(outcome["posture"]["sha256"]) == 64, "posture")
    folder = j["result_folder"]
    equal(outcome["manifest"], hashlib.sha256(
        read(folder + "/MANIFEST")).hexdigest(), "manifest")


@case("denials and cancelled runs are records; nothing else is")
def _():
    p = Place()
    p.run("--lang", "klingon", "-c", "x")
    p.bash("true", "--timeout", "99999")
    started = p.start("--lang", "bash", "-c", "echo up; sleep 1000")
    os.read(started.stdout.fileno(), 3)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=PATIENCE_S)
    p.run("--unknown")
    p.run(p.path("none.py"))
    found = [r for r in p.records() if r["type"] != "epoch.close"]
    equal([r["type"] for r in found],
          ["log.open", "denial", "denial", "intent", "outcome"], "types")
    equal(found[1]["reasons"], ["language.not_allowed"], "first")
    equal(found[2]["reasons"], ["limit.wall.above_max"], "second")
    equal((found[4]["status"], found[4]["killed_by"]),
          ("cancelled", "client"), "cancelled")
    for record in found[1:4]:
        equal(record["principal"]["uid"], 0, "principal")


@case("the policy of every intent is kept before it, under its digest")
def _():
    p = Place()
    p.bash("true")
    intent = [r for r in p.records() if r["type"] == "intent"][0]
    kept = os.path.join(p.state, "policies",
                        intent["policy"]["sha256"] + ".json")
    text = read(kept)
    equal(hashlib.sha256(text).hexdigest(), intent["policy"]["sha256"],
          "digest of the effective text")
    json.loads(text)
    equal(hashlib.sha256(read(p.policy)).hexdigest(),
          intent["policy"]["file"], "digest of the file")


@case("verify checks kept policies: other bytes and a missing one are red")
def _():
    p = Place()
    p.bash("true")
    p.run("--lang", "klingon", "-c", "x")
    finished(p)
    r = p.verify("--strict")
    check(r.code == 0 and b"1 policies that" in r.out, "kept: %r" % r)
    folder = os.path.join(p.state, "policies")
    kept = os.path.join(folder, os.listdir(folder)[0])
    text = read(kept)
    with open(kept, "wb") as f:
        f.write(text.replace(b"1", b"2", 1))
    r = p.verify()
    check(r.code == 1 and b"policies.file" in r.out, "other bytes: %r" % r)
    os.unlink(kept)
    r = p.verify()
    check(r.code == 1 and b"policies.lost" in r.out, "missing: %r" % r)
    os.rmdir(folder)
    r = p.verify()
    check(r.code == 0 and r.out.count(b"policies/ beside") == 1,
          "a copy without the folder: %r" % r)
    equal(p.verify("--strict").code, 3, "the same, strictly")
    # A service keeps its policy again before it records anything.
    p.bash("true")
    finished(p)
    equal((read(kept) == text, p.verify("--strict").code), (True, 0),
          "kept again")


@case("results verify with sha256sum, and a changed byte turns red")
def _():
    p = Place()
    j = p.json("--lang", "python", "-c",
               "open('odd \\\\\\n','w').write('x');print('y')").json
    folder = j["result_folder"]
    r = call(["sha256sum", "-c", "--strict", "--quiet", "MANIFEST"],
             cwd=folder)
    equal((r.code, r.out, r.err), (0, b"", b""), "sha256sum")
    listed = {line.split("  ", 1)[1] for line in
              read(folder + "/MANIFEST").decode().splitlines()}
    there = set()
    for base, _, names in os.walk(folder):
        there |= {os.path.relpath(os.path.join(base, n), folder)
                  for n in names}
    equal(there - listed,
          {"MANIFEST", "record.dsse.json", "record.tlog-proof"}, "beside")
    value = json.loads(read(folder + "/result.json"))
    equal((value["audit"], value["status"]), (j["intent"], "ok"),
          "result.json")
    finished(p)
    equal(p.verify().code, 0, "verify")
    with open(folder + "/stdout", "r+b") as f:
        f.write(b"z")
    equal(p.verify().code, 1, "verify of a changed result")


@case("results that a crash set aside are incomplete, other losses are not")
def _():
    p = Place()
    folder = p.json("--lang", "bash", "-c", "echo x").json["result_folder"]
    results = os.path.join(p.state, "results")
    finished(p)
    aside = os.path.join(results, ".quarantine", os.path.basename(folder))
    os.rename(folder, aside)
    equal(p.verify().code, 5, "in .quarantine")
    os.makedirs(os.path.join(results, ".staging", "f" * 32))
    staged = os.path.join(results, ".staging", "f" * 32,
                          os.path.basename(folder))
    os.rename(aside, staged)
    equal(p.verify().code, 5, "in .staging")
    with open(staged + "/MANIFEST", "ab") as f:
        f.write(b"\n")
    equal(p.verify().code, 1, "another MANIFEST")
    shutil.rmtree(staged)
    equal(p.verify().code, 1, "gone")


@case("the receipt's envelope holds the very record")
def _():
    p = Place()
    j = p.json("--lang", "bash", "-c", "echo x").json
    envelope = json.loads(read(j["result_folder"] + "/record.dsse.json"))
    payload = base64.b64decode(envelope["payload"])
    line = lines(p)[j["audit"]["seq"]]
    check(payload in line, "payload is not the log's")
    proof = read(j["result_folder"] + "/record.tlog-proof").decode()
    check(proof.startswith("c2sp.org/tlog-proof@v1\n"), proof[:40])


@case("verify is 0 while runs go on, in every mode, and pins the local key")
def _():
    p = Place()
    started = p.start("--lang", "bash", "-c", "echo up; sleep 1000")
    os.read(started.stdout.fileno(), 3)
    for words in ([], ["--deep"], ["--json"]):
        r = p.verify(*words)
        equal(r.code, 0, "%r: %r" % (words, r))
    check(b"local key" in p.verify().out, "pin: %r" % p.verify().out)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=PATIENCE_S)
    finished(p)
    for words in ([], ["--deep"], ["--strict"], ["--json"]):
        r = p.verify(*words)
        equal(r.code, 0, "stopped, %r: %r" % (words, r))


@case("verify of a log without its pinned key is 2, with another key not 0")
def _():
    p, other = Place(), Place()
    for place in (p, other):
        place.bash("true")
        finished(place)
    log = p.records()[0]["log"]
    foreign = other.records()[0]["log"]
    keys = "/etc/bailiff/keys.d/"
    key = read(keys + foreign + "/log.vkey").decode().strip()
    r = p.audit("verify", "--key", key, p.state)
    check(r.code in (1, 2), "foreign key: %r" % r)
    shutil.rmtree(keys + log)
    r = p.audit("verify", p.state)
    equal(r.code, 2, "no pin")


@case("one changed byte anywhere in the log is found")
def _():
    p = Place()
    for i in range(3):
        p.bash("echo %d" % i)
    finished(p)
    path = os.path.join(p.state, "audit", "log", "000000.jsonl")
    data = read(path)
    for at in range(0, len(data), max(1, len(data) // 60)):
        changed = bytearray(data)
        changed[at] ^= 1
        with open(path, "r+b") as f:
            f.write(bytes(changed))
        r = p.audit("verify", p.state)
        check(r.code not in (0, 3, 5) or changed == data,
              "byte %d: exit %d" % (at, r.code))
    with open(path, "r+b") as f:
        f.write(data)
    equal(p.audit("verify", p.state).code, 0, "put right")


@case("show prints every record in a line, hostile claims escaped")
def _():
    p = Place()
    p.bash("true", "--label", "\x1b[31mred\n")
    r = p.audit("show", p.state)
    equal(r.code, 0, "exit")
    check(b"\x1b" not in r.out and b"intent" in r.out and
          b"outcome" in r.out, "%r" % r.out)
    check(len(r.out.splitlines()) >= len(p.records()), "lines")
    r = p.audit("show", "--seq", "1", p.state)
    check(r.code == 0 and b"red" in r.out and b"\x1b" not in r.out, "%r" % r)


@case("an independent checker in Go accepts the log")
def _():
    checker = os.path.join(SOURCE, "tests", "audit", "check.go")
    if not os.path.exists(checker):
        raise Skip("no checker")
    if shutil.which("go") is None:
        raise Skip("no go")
    p = Place()
    for i in range(5):
        p.bash("echo %d" % i)
    p.run("--lang", "klingon", "-c", "x")
    finished(p)
    log = p.records()[0]["log"]
    done = subprocess.run(
        ["go", "run", checker, os.path.join(p.state, "audit"),
         "/etc/bailiff/keys.d/" + log + "/log.vkey"],
        env=dict(os.environ, GO111MODULE="off",
                 GOPATH="/usr/share/gocode", GOFLAGS="",
                 GOCACHE=p.path("gocache")),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        check=False)
    equal(done.returncode, 0, done.stdout.decode()[-600:])


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer",
                  "bailiff-audit")
    main()
