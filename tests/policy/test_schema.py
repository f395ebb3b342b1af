"""The published schema accepts and refuses as the parser does.

    test_schema.py BUILD_DIR SOURCE_DIR [SEED]

Thousands of policies, changed systematically and by chance, are put before the
parser and before a validator of JSON Schema (python3-jsonschema).  Whatever the
parser takes, the schema must take.  What the schema takes and the parser does
not must be refused for a reason that no schema can say; bailiff-policy(5) lists
them, and each must be seen here.
"""
import copy
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: needs python3-jsonschema")
    sys.exit(77)

BUILD, SOURCE = sys.argv[1], sys.argv[2]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
PROGRAM = os.path.join(BUILD, "libexec/bailiff/bailiff-policy")
LINES = os.path.join(BUILD, "tests/policy_lines")
LANGUAGES = sorted(glob.glob(os.path.join(BUILD, "share/bailiff/languages/*.json")))
PAIRS = 1500
failures = 0

# Why the parser refuses what the schema takes; the numbers stand in the manual.
BEYOND = {
    1: r"^the default is above max",
    2: r'^unknown language "',
    3: r'cannot start without the capability "',
    4: r"has no modules that could be denied|compiles nothing; leave",
    5: r"^not a whole number from .* write digits only",
    6: r"^longer than \d+ bytes",
    7: r"control or invisible characters|^not an absolute path",
    8: r'^two rules are called|says something else; choose another id|a pattern or a module, not both'
       r'|needs the key "pattern" or "module"|leave "in" out|this place stands here twice|^it looks nowhere',
}
# Every key that there is, each with a value that is taken.
FULL = {
    "version": 1, "name": "full-1.x_y",
    "languages": {
        "python": {"limits": {"wall_ms": {"default": 10, "max": 20}, "file_size": {"max": "unlimited"}},
                   "capabilities": {"syscalls": {"only": ["read", "mmap"], "allow": [], "deny": []}},
                   "modules": {"deny": ["ctypes", "xml.etree"], "only": ["json", "_re2"]}, "libraries": {"allow": ["Six", "numpy==1.24.2"], "from": "/srv/wheels"},
                   "rules": [{"id": "a.b_1", "pattern": "\\bx\\(", "in": "code", "action": "deny"},
                             {"id": "c", "pattern": "y", "in": ["strings", "comments"], "action": "flag"},
                             {"id": "limits", "module": "sys/socket.h"}],
                   "compile_limits": {}},
        "c": {"compile_limits": {"wall_ms": 60000, "memory": 1 << 31, "output": "unlimited", "file_size": 0}},
        "bash": {"capabilities": {"subprocess": True, "threads": True, "loopback": True, "network": False,
                                  "exec_memory": True, "ipc": True}}},
    "limits": {"wall_ms": {"default": 1000, "max": 2000}, "memory": {"max": 1 << 30}, "pids": {"default": 3},
               "output": {"default": "unlimited", "max": "unlimited"}, "inputs": {}},
    "capabilities": {"subprocess": True, "threads": True, "loopback": True, "network": False, "exec_memory": False,
                     "ipc": False, "syscalls": {}},
    "paths": {"read": ["/srv/data", "/srv/%2e%2e", "/srv/d\u00e4ta x"], "export": []},
    "network": "none", "trace": "off",
    "audit": {"durability": "full", "retention_days": "unlimited", "args": "store", "env": "omit", "stdin": "commit",
              "results": {"keep_days": 30, "max_bytes": 1073741824}, "access": "record", "tick_s": 600},
    "concurrency": {"runs": "auto", "queue": 64, "per_principal": "unlimited"},
    "landlock": {"min_abi": 2}, "service": {"linger_s": 60}, "degraded": "refuse",
}
VALUES = [None, True, False, 0, 1, 2, -1, 1.5, 1e3, 64, 65, 4097, 1 << 40, 1 << 64, "", "x", "1", "unlimited", "none",
          "auto", "off", "best-effort", "required", "full", "relaxed", "refuse", "accept", "X", "-x", "a\n", [], {},
          ["a"], [1], [{}], [[]], {"x": 1}, {"allow": []}, {"allow": ["a"]}, {"deny": []}, {"default": 1},
          {"max": "unlimited"}, ["/a", "/a"], ["ctypes", "ctypes"]]
TEXTS = ["a" * 63, "a" * 64, "_a", "a.b", "a..b", ".a", "1a", "a b", "\u00e4", "\u200b", "a\u0000", "/", "/a", "/a/",
         "//a", "/./a", "/../a", "/a/..", "/a/...", "/a/..b", "/%2e%2e", "/a\n", "/a\tb", "/\u202ea", "/a\\b", "a/b",
         "/" + "a" * 255, "/" + "a" * 256, "/" + "\u00e4" * 200, "/a" * 2047, "/a" * 2048, "/\U000e0041", ("/" + "\u00e4" * 120) * 20]


def case(name, ok, detail=""):
    global failures
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + repr(detail)))
    failures += not ok


def places(value, path=()):
    """The path of every value inside, deepest last."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inner:
        yield from places(member, path + (key,))


def put(policy, path, value):
    if not path:
        return value
    changed = copy.deepcopy(policy)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return changed


def get(policy, path):
    for key in path:
        policy = policy[key]
    return policy


def bounds(schema):
    """Every number that the schema bounds something by, and its neighbours."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("minimum", "maximum", "minItems", "maxItems", "const", "maxLength"):
                if isinstance(value, int) and not isinstance(value, bool):
                    yield from (value - 1, value, value + 1)
            yield from bounds(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from bounds(value)


def variants(value, numbers):
    """What may stand there instead of 'value'."""
    yield from VALUES
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            yield {(k + "x" if k == key else k): v for k, v in value.items()}
        yield {**value, "unknown": 1}
    if isinstance(value, list):
        yield value + value[:1]
        yield from (value + [text] for text in TEXTS)
        for n in (32, 33, 64, 65):
            yield ["/r%d" % i for i in range(n)]
            yield ["m%d" % i for i in range(n)]
    if isinstance(value, str):
        yield from TEXTS
    if isinstance(value, int) or value in ("auto", "unlimited"):
        yield from numbers


def limit_variants(table):
    """At every bound of every limit, below it and above it."""
    for name, schema in table.items():
        for n in sorted(set(bounds(schema))):
            yield put(FULL, ("limits",), {name: {"default": n, "max": n}})
            yield put(FULL, ("limits",), {name: {"max": n}})
        for word in ("unlimited", "none"):
            yield put(FULL, ("limits",), {name: {"default": word, "max": word}})


def corpus(schema, seed):
    numbers = sorted(set(bounds({k: v for k, v in schema.items() if k != "$defs"})) | {255, 256})
    yield FULL
    yield from (json.load(open(p, encoding="utf-8"))
                for p in sorted(glob.glob(os.path.join(SOURCE, "examples/policies/*.json"))))
    everywhere = list(places(FULL))
    for path in everywhere:
        for value in variants(get(FULL, path), numbers):
            yield put(FULL, path, value)
    yield from limit_variants(schema["$defs"]["limits"]["properties"])
    yield put(FULL, ("languages",), {"l%d" % i: {} for i in range(17)})
    yield put(FULL, ("languages",), {"a" * 64: {}})
    yield put(FULL, ("languages", "bash", "modules"), {"deny": ["ctypes"]})
    yield put(FULL, ("languages", "needy"), {"capabilities": {"threads": False}})
    luck = random.Random(seed)
    for _ in range(PAIRS):
        policy = FULL
        for _ in range(2):
            path = luck.choice(list(places(policy))) if isinstance(policy, dict) else ()
            policy = put(policy, path, luck.choice(list(variants(get(policy, path), numbers))))
        yield policy


def ask_parser(texts):
    """Of each text: whether it is taken, and its digest or all faults."""
    with tempfile.TemporaryDirectory() as work:
        # A language that cannot do without something.
        needy = os.path.join(work, "needy.json")
        with open(LANGUAGES[0], encoding="utf-8") as f:
            language = {**json.load(f), "name": "needy", "aliases": [], "needs": ["threads"]}
        with open(needy, "w", encoding="utf-8") as f:
            json.dump(language, f)
        done = subprocess.run([LINES, *LANGUAGES, needy], input="".join(t + "\n" for t in texts),
                              capture_output=True, text=True, timeout=300, check=True)
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == len(texts), (len(lines), len(texts))
    for line in lines:
        word, *rest = line.split("\t")
        yield word == "ok", rest


def contradictions(schema, answers):
    """Whether there is one."""
    validator = Draft202012Validator(schema)
    return any(validator.is_valid(json.loads(text)) != taken for text, taken, faults in answers
               if taken or not is_beyond(faults))


def is_beyond(faults):
    return all(any(re.search(p, f.split(": ", 1)[-1]) for p in BEYOND.values()) for f in faults)


def compare(schema, answers):
    """Policies by what became of them; what contradicts, as sentences."""
    validator = Draft202012Validator(schema)
    counts = {"both take": 0, "both refuse": 0, "parser alone refuses": 0}
    seen, wrong = set(), []
    for text, taken, faults in answers:
        if validator.is_valid(json.loads(text)):
            reasons = {n for n, pattern in BEYOND.items() for f in faults
                       if re.search(pattern, f.split(": ", 1)[-1])}
            seen |= reasons
            if not is_beyond(faults):
                wrong.append(f"the schema takes {text[:300]}, the parser says {faults}")
            counts["both take" if taken else "parser alone refuses"] += 1
        else:
            if taken:
                why = next(validator.iter_errors(json.loads(text)))
                wrong.append(f"the parser takes {text[:300]}, the schema says {why.message[:200]} at {why.json_path}")
            counts["both refuse"] += 1
    return counts, seen, wrong


def main():
    done = subprocess.run([PROGRAM, "schema"], capture_output=True, text=True, check=True)
    published = os.path.join(SOURCE, "policy/schema.json")
    case("policy/schema.json is what `bailiff policy schema` prints", open(published, encoding="utf-8").read() ==
         done.stdout, "write it anew: bailiff policy schema > policy/schema.json")
    installed = os.path.join(BUILD, "share/bailiff/policy.schema.json")
    case("and what is installed", open(installed, encoding="utf-8").read() == done.stdout)
    schema = json.loads(done.stdout)
    Draft202012Validator.check_schema(schema)
    case("it is a schema of 2020-12", schema["$schema"].endswith("/draft/2020-12/schema"))
    keys = re.findall(r'"([a-z_]+)": \{\s', done.stdout)
    case("every key of the language stands in it", not [k for path in places(FULL) for k in path[-1:]
         if isinstance(k, str) and k not in keys + ["python", "bash", "c"]])

    texts = list(dict.fromkeys(json.dumps(p) for p in corpus(schema, SEED)))
    answers = [(text, taken, [] if taken else rest) for text, (taken, rest) in zip(texts, ask_parser(texts))]
    counts, seen, wrong = compare(schema, answers)
    print(f"     {counts}, seed {SEED}")
    case("schema and parser agree on thousands of policies", not wrong, wrong[:3])
    case("both ways are tried often", counts["both take"] > 300 and counts["both refuse"] > 2000, counts)
    case("every reason beyond a schema is met", seen == set(BEYOND), set(BEYOND) - seen)

    texts, digests = [json.dumps(FULL)], {}
    for path in places(FULL):
        was = get(FULL, path)
        # Names of libraries fold: "X" is "x".
        if not isinstance(was, (dict, list)) and "libraries" not in path:
            texts += [json.dumps(put(FULL, path, value)) for value in VALUES
                      if not isinstance(value, (dict, list)) and (value, type(value)) != (was, type(was))]
    for text, (taken, digest) in zip(texts, ask_parser(texts)):
        if taken:
            digests.setdefault(digest[0], []).append(text)
    twins = [same for same in digests.values() if len(same) > 1]
    case("every value that is taken shows in the digest of what a policy means", not twins and len(digests) > 80,
         (twins[:1], len(digests)))
    turned = json.dumps({k: FULL[k] for k in reversed(FULL)}, indent=3)
    same = list(ask_parser([texts[0], turned.replace("\n", " ")]))
    case("order and spaces do not", same[0] == same[1] and same[0][0], same)

    # The comparison itself notices a schema that is too wide or too narrow.
    wide = copy.deepcopy(schema)
    wide["properties"]["concurrency"]["properties"]["queue"]["maximum"] += 1
    case("a bound that is one too high is noticed", contradictions(wide, answers))
    narrow = copy.deepcopy(schema)
    narrow["$defs"]["limits"]["properties"]["pids"]["properties"]["max"]["minimum"] += 1
    case("a bound that is one too narrow is noticed", contradictions(narrow, answers))
    sys.exit(1 if failures else 0)


main()
