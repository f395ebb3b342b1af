#!/usr/bin/python3
"""What opens a run's commitments is erased on demand, its results too; and who reads results is recorded."""
import hashlib
import hmac
import os

from lib import Place, case, check, equal, main, need_programs, need_root, wait_for


def salts(p):
    found = {}
    folder = os.path.join(p.state, "audit", "salts")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
        for at in range(0, len(data), 40):
            found[int.from_bytes(data[at:at + 8], "big")] = data[at + 8:at + 40]
    return found


def commit(salt, secret):
    return "hmac-sha256:" + hmac.new(salt, hashlib.sha256(secret).digest(), hashlib.sha256).hexdigest()


def guess(p, what, known):
    """Who has the state directory and a short list of guesses: which of them is it?"""
    left = b""
    for here, _, names in os.walk(p.state):
        for name in names:
            path = os.path.join(here, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    left += f.read()
    salt_files = b"".join(salts(p).values())
    keys = {salt_files[at:at + 32] for at in range(0, len(salt_files) - 31)}
    # And any run of 32 bytes anywhere, tried with the right guess alone.
    anywhere = any(hmac.compare_digest(what, commit(left[at:at + 32], known[1])) for at in range(len(left) - 31))
    return [g for g in known if any(commit(k, g) == what for k in keys)] or (known[1:2] if anywhere else [])


def of(p, kind):
    return [r for r in p.records() if r["type"] == kind]


@case("before redact a list of guesses finds the argument, after it none does, and the log holds")
def _():
    p = Place()
    r = p.json("--lang", "bash", "-c", "echo $1", "--", "secret-2", stdin=b"pin 4711")
    run = r.json["run_id"]
    other = p.json("--lang", "bash", "-c", "true", "--", "secret-3").json["run_id"]
    intent = [i for i in of(p, "intent") if i["req"] == run][0]
    guesses = [b"secret-%d\0" % i for i in (1, 2, 3, 4)]
    equal(guess(p, intent["args"]["commit"], guesses), [guesses[1]], "before")
    equal(commit(salts(p)[intent["seq"]], b"pin 4711"), intent["stdin"]["commit"], "the commitment of stdin")
    said = p.audit("redact", "--policy", p.policy, "--state", p.state, run)
    check(said.code == 0 and b"1 runs redacted, record" in said.err, "%r" % said)
    equal(guess(p, intent["args"]["commit"], guesses), [], "after")
    equal(salts(p)[intent["seq"]], bytes(32), "the salt")
    check(os.path.isdir(os.path.join(p.state, "results", run)), "the results stay")
    record = of(p, "redact")[0]
    equal((record["runs"], record["results"], record["principal"]["uid"]),
          ([{"epoch": 0, "req": run, "seq": intent["seq"]}], False, 0), "the record")
    check(any(salts(p)[i["seq"]] != bytes(32) for i in of(p, "intent") if i["req"] == other), "another run's stays")
    p.stop()
    r = p.verify()
    check(r.code == 0 and b"1 runs: what opened their commitments is erased" in r.out, "verify: %r" % r)


@case("with --results the content goes as well, and who asks is told")
def _():
    p = Place()
    run = p.json("--lang", "bash", "-c", "echo the secret; echo x > f").json["run_id"]
    said = p.audit("redact", "--policy", p.policy, "--state", p.state, "--results", run)
    check(said.code == 0, "%r" % said)
    for place in ("results", "results/.pruning"):
        wait_for(lambda: not os.path.exists(os.path.join(p.state, place, run)), "the removal")
    said = p.result(run, "stdout")
    check(said.code == 1 and b"(redacted)" in said.err, "%r" % said)
    p.stop()
    r = p.verify()
    check(r.code == 0 and b"1 folders are gone" in r.out, "verify: %r" % r)


@case("an unknown run, a bad id, too many, a denied run: refused, nothing is erased")
def _():
    p = Place()
    run = p.json("--lang", "bash", "-c", "true").json["run_id"]
    denied = p.json("--lang", "cobol", "-c", "x").json["run_id"]
    before = salts(p)
    for runs, code, text in ((["r_" + "0" * 32, run], 1, b"the log has no run"), ([denied], 1, b"that was allowed"),
                             ([run, run], 1, b"twice"), (["r_x"], 1, b"no run ids"), ([], 2, b"which runs"), ([run] * 65, 2, b"64 runs at most"),
                             ([run, "--", denied], 2, b"at most")):
        said = p.audit("redact", "--policy", p.policy, "--state", p.state, *runs)
        check(said.code == code and text in said.err, "%r: %r" % (runs[:2], said))
    equal(salts(p), before, "salts")
    equal(of(p, "redact"), [], "records")


@case("a run that goes on is not redacted")
def _():
    p = Place()
    running = p.start("--lang", "bash", "-c", "sleep 60")
    intent = wait_for(lambda: os.path.exists(os.path.join(p.state, "audit/log/000000.jsonl")) and of(p, "intent"), "the intent")[0]
    said = p.audit("redact", "--policy", p.policy, "--state", p.state, intent["req"])
    check(said.code == 1 and b"has not ended yet" in said.err, "%r" % said)
    running.kill()
    running.communicate()


@case("who reads results is recorded before it gets them; a run's own reply is no reading")
def _():
    p = Place(audit={"access": "record"})
    out = p.path("out")
    r = p.json("--lang", "bash", "-c", "echo hi; echo x > 'a b'", "--out", out)
    run = r.json["run_id"]
    equal(sorted(os.listdir(out)), ["a b"], "the reply")
    equal(of(p, "access"), [], "its own reply")
    equal(p.result(run, "stdout").out, b"hi\n", "stdout")
    equal(p.result(run).code, 0, "the list")
    equal(p.result(run, "files/a%20b").out, b"x\n", "an artifact")
    check(p.result(run, "nothing").code == 1 and p.result("r_" + "0" * 32).code == 1, "what is not there")
    equal([(a["what"], a.get("name"), a["req"], a["principal"]["uid"]) for a in of(p, "access")],
          [("file", "stdout", run, 0), ("list", None, run, 0), ("file", "files/a%20b", run, 0)], "the records")
    p.stop()
    equal(p.verify("--strict").code, 0, "verify")


@case("what the policy stores lies with the results, what it omits is nowhere")
def _():
    p = Place(audit={"args": "store", "stdin": "store", "env": "omit"})
    big = b"z" * 3000000
    r = p.json("--lang", "bash", "-c", "cat | wc -c; echo $1", "--", "x y", "", stdin=big)
    run, folder = r.json["run_id"], os.path.join(p.state, "results", r.json["run_id"])
    with open(os.path.join(folder, "args"), "rb") as f:
        equal(f.read(), b"x y\0\0", "the arguments")
    with open(os.path.join(folder, "stdin"), "rb") as f:
        check(f.read() == big, "standard input")
    check(not os.path.exists(os.path.join(folder, "env")), "no environment")
    intent = of(p, "intent")[0]
    equal(sorted(intent["env"]), ["count"], "env")
    salt = salts(p)[intent["seq"]]
    equal((intent["args"]["commit"], intent["stdin"]["commit"]), (commit(salt, b"x y\0\0"), commit(salt, big)), "commitments of the very bytes")
    equal(p.result(run, "args").code, 0, "it can be read")
    other = p.write_policy("other.json", audit={"args": "omit", "stdin": "omit", "env": "store"})
    run = p.json("--lang", "c", "-c", "int main(void) { return 0; }", "--", "hidden", policy=other).json["run_id"]
    intent = of(p, "intent")[-1]
    equal((intent["args"], intent["stdin"]), ({"count": 1}, {"size": 0}), "what is omitted")
    with open(os.path.join(p.state, "results", run, "env"), "rb") as f:
        text = f.read()
    check(text.endswith(b"\0") and b"=" in text, "the environment: %r" % text)
    equal(intent["env"]["commit"], commit(salts(p)[intent["seq"]], text), "its commitment")
    run = p.json("--lang", "python", "-c", "pass", policy=other).json["run_id"]
    intent = of(p, "intent")[-1]
    with open(os.path.join(p.state, "results", run, "env"), "rb") as f:
        equal(intent["env"]["commit"], commit(salts(p)[intent["seq"]], f.read()), "also of a language with plots")
    p.stop()
    equal(p.verify("--strict").code, 0, "verify")


@case("a policy that does not ask for it records no reader")
def _():
    p = Place()
    run = p.json("--lang", "bash", "-c", "true").json["run_id"]
    equal(p.result(run).code, 0, "the list")
    equal(of(p, "access"), [], "records")


if __name__ == "__main__":
    need_root()
    need_programs("bailiff-supervisor", "bailiff-signer", "bailiff-audit")
    main()
