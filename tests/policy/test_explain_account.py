#!/usr/bin/python3
"""For an ordinary account too, what explain says is what a run gets.

    test_explain_account.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

import account  # noqa: E402
from lib import case, check, equal, main, need_programs  # noqa: E402

LOOK = """
import json, os
mounts = [l.split() for l in open('/proc/self/mountinfo')]
print(json.dumps({'env': dict(os.environ), 'mounts': [
    [m[4], m[m.index('-') + 1], 'ro' in (m[5].split(',')[0], m[-1].split(',')[0])] for m in mounts]}))
"""
CODE = ("--lang", "python", "--timeout", "20", "-c", LOOK)


@case("mounts, environment, limits, policy and what is lacking")
def _():
    home = account.Home()
    shown = os.path.join(home.dir, "some dir")
    os.mkdir(shown)
    os.chmod(shown, 0o755)
    os.chown(shown, account.UID, account.GID)
    WORDS = ("--policy", home.policy(paths={"read": [home.dir]}), "--dir", shown, *CODE)
    r = home.call("policy", "explain", "--json", *WORDS)
    check(r.code == 0, r)
    said = json.loads(r.out)
    ran = home.json(*WORDS)
    equal((ran["status"], ran["stderr"]), ("ok", ""), "the run")
    found = json.loads(ran["stdout"])
    equal(said["environment"], found["env"], "environment")
    told = {m["point"]: m for m in said["mounts"]}
    equal(sorted(told), sorted(m[0].replace("\\040", " ") for m in found["mounts"]), "mounts")
    for point, kind, read_only in found["mounts"]:
        mount = told[point.replace("\\040", " ")]
        check(mount["type"] in (kind, "tree"), (mount, kind))
        equal(mount["read_only"], read_only, point)
    intent = [s["predicate"] for s in home.records() if s["predicate"]["type"] == "intent"][-1]
    equal({k: v["value"] for k, v in said["limits"].items()}, intent["limits"], "limits")
    equal(said["policy"]["sha256"], intent["policy"]["sha256"], "policy")
    # What is delegated to an account, only the service finds out.
    check(set(ran["degraded"]) <= set(said["lacking"]), (ran["degraded"], said["lacking"]))
    check("uid_separation" in said["lacking"], said["lacking"])
    home.stop()


@case("it reads what its caller can read, and nothing else")
def _():
    home = account.Home()
    path = os.path.join(account.TOP, "secret.py")
    with open(path, "w") as f:
        f.write("print(1)")
    os.chmod(path, 0o600)
    r = home.call("policy", "explain", path)
    check(r.code == 1 and b"Permission denied" in r.err and r.out == b"", r)
    r = home.call("policy", "explain", "--request", path)
    check(r.code == 1 and b"Permission denied" in r.err and r.out == b"", r)


need_programs("bailiff-policy", "bailiff-supervisor", "bailiff-launch")
account.begin()
main()
