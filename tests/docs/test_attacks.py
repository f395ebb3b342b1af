#!/usr/bin/python3
"""docs/attacks.md is whole: each row has evidence that exists, each vector of the log stands in its rows.

    test_attacks.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import sys

SOURCE = sys.argv[2]
# The catalogue has 88 numbers; those divisible by six were never given.
ROWS = [n for n in range(1, 89) if n % 6]
FAULTS = []


def check(good, what):
    print(("ok    " if good else "FAIL  ") + what, flush=True)
    if not good:
        FAULTS.append(what)


def text_of(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        return f.read()


def vectors():
    """(row, name) -> exit code"""
    found = {}
    for name in ("negative", "control"):
        for line in text_of(f"tests/audit/vectors/{name}.jsonl").splitlines():
            v = json.loads(line)
            found.update({(row, v["name"]): v["exit"] for row in v["rows"]})
    return found


def says(path, words):
    if not os.path.isfile(os.path.join(SOURCE, "tests", path)):
        return False
    # A line of a test may be broken or begin with a number of its own; names of unit tests are sentences.
    text = text_of(os.path.join("tests", path))
    if path.startswith("unit/"):
        return words.replace(" ", "_") in text
    return words in text


def main():
    rows = {}
    for line in text_of("docs/attacks.md").splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0].isdigit():
            if int(cells[0]) in rows:
                check(False, f"row {cells[0]} stands once")
            rows[int(cells[0])] = cells[1:]
    check(sorted(rows) == ROWS, f"the table has its {len(ROWS)} rows {sorted(set(rows) ^ set(ROWS))}")
    known, used, bad, reasons = vectors(), set(), [], 0
    for row, (_, _, shown) in rows.items():
        reason = shown.startswith("not tried: ")
        reasons += reason
        tests = re.findall(r"`([a-z0-9_/]+\.(?:py|c))` \((.*?)\)(?:; |$)", shown)
        named = [(name, int(code)) for name, code in re.findall(r"`([a-z0-9-]+)` (\d)(?=[,;]|$)", shown)]
        if not reason and not tests and not named:
            bad.append((row, "no evidence"))
        bad += [(row, path, words) for path, words in tests if not says(path, words)]
        bad += [(row, name, code) for name, code in named if known.get((row, name)) != code]
        if not reason and shown.count("`") != 2 * (len(tests) + len(named)) + 2 * len(re.findall(r"\([^)]*`[^)]*`[^)]*\)", shown)):
            bad.append((row, "a cell that is not understood"))
        used |= {(row, name) for name, _ in named}
    check(not bad, f"the evidence of each row is there {bad}")
    check(used == set(known), f"each vector stands in each of its rows {sorted(used ^ set(known))}")
    said = re.search(r"(\d+) of (\d+) rows are tried; (\d+) have a reason", text_of("docs/attacks.md"))
    check(said and [int(x) for x in said.groups()] == [len(rows) - reasons, len(rows), reasons], "its sums are right")
    sys.exit(1 if FAULTS else 0)


main()
