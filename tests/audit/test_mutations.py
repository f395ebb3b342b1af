"""Mutations of logs that the signer wrote: none is accepted, none crashes a verifier, and both verifiers say the same.

    test_mutations.py BUILD_DIR SOURCE_DIR [--long]

500 mutations of logs of 1 to 257 records (10,000, with 65,535 to 65,537 records among them, with --long).  The verifiers are
bailiff-audit and the checker in Go that uses none of our code.  The seed is printed, and another one with each --long;
BAILIFF_SEED sets it.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signer_harness import AUDITOR, Log, check, finish, go_checker, need_go  # noqa: E402

LONG = "--long" in sys.argv
SEED = int(os.environ.get("BAILIFF_SEED") or (random.SystemRandom().randrange(1 << 32) if LONG else 2026))
SIZES = (3, 4, 5, 8, 9, 63, 64, 65, 128, 255, 256, 257)
HUGE = (65535, 65536, 65537)


def make_log(size):
    """-> (lines, checkpoint, key) of a log of that many records, opened and closed by the signer."""
    log = Log()
    try:
        line = log.start("--linger-ms", "600000")
        assert line == "ready\n", line
        # Long logs end epochs on their way, each with two records of its own.
        while (have := log.bytes().count(b"\n") or 1) < size - 1:
            log.say(f"flood {min(9000, size - 1 - have)}")
        assert log.stop() == 0
        lines = log.bytes().splitlines(keepends=True)
        with open(log.path("audit/checkpoint"), "rb") as f:
            checkpoint = f.read()
        with open(log.path("pin/log.vkey"), "rb") as f:
            return lines, checkpoint, f.read()
    finally:
        log.remove()


def flip_bit(rng, lines):
    i = rng.randrange(len(lines))
    line = bytearray(lines[i])
    line[rng.randrange(len(line))] ^= 1 << rng.randrange(8)
    return lines[:i] + [bytes(line)] + lines[i + 1:]


def put_byte(rng, lines):
    i = rng.randrange(len(lines))
    at = rng.randrange(len(lines[i]))
    return lines[:i] + [lines[i][:at] + bytes([rng.randrange(256)]) + lines[i][at:]] + lines[i + 1:]


def cut_byte(rng, lines):
    i = rng.randrange(len(lines))
    at = rng.randrange(len(lines[i]))
    return lines[:i] + [lines[i][:at] + lines[i][at + 1:]] + lines[i + 1:]


def drop(rng, lines):
    i = rng.randrange(len(lines))
    return lines[:i] + lines[i + 1:]


def twice(rng, lines):
    i = rng.randrange(len(lines))
    return lines[:i + 1] + lines[i:]


def swap(rng, lines):
    i = rng.randrange(len(lines) - 1)
    return lines[:i] + [lines[i + 1], lines[i]] + lines[i + 2:]


def move(rng, lines):
    rest = list(lines)
    one = rest.pop(rng.randrange(len(rest)))
    rest.insert(rng.randrange(len(rest) + 1), one)
    return rest


def cut_tail(rng, lines):
    return lines[:rng.randrange(len(lines))]


def tear(rng, lines):
    keep = rng.randrange(len(lines))
    return lines[:keep] + [lines[keep][:rng.randrange(1, len(lines[keep]))]]


def edit_word(rng, lines):
    """A value changed, its form kept."""
    i = rng.randrange(len(lines))
    words = list(re.finditer(rb'[0-9a-f]{8,}|\d+', lines[i]))
    m = rng.choice(words)
    old = m.group()
    digit = rng.randrange(len(old))
    new = bytes([rng.choice([c for c in b"0123456789" if c != old[digit]])])
    return lines[:i] + [lines[i][:m.start() + digit] + new + lines[i][m.start() + digit + 1:]] + lines[i + 1:]


def append(rng, lines):
    return lines + [rng.choice([b"\n", b"\0", b"{}\n", b" \n", b"\r\n", lines[-1], lines[0], os.urandom(40) + b"\n"])]


MUTATIONS = (flip_bit, put_byte, cut_byte, drop, twice, swap, move, cut_tail, tear, edit_word, append)


class Judge:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="bailiff-mutations-")
        os.makedirs(os.path.join(self.dir, "audit", "log"))
        self.key = os.path.join(self.dir, "vkey")
        self.go = go_checker()

    def put(self, name, data):
        with open(os.path.join(self.dir, name), "wb") as f:
            f.write(data)

    def verdicts(self, lines, checkpoint, key):
        self.put("audit/log/000000.jsonl", b"".join(lines))
        self.put("audit/checkpoint", checkpoint)
        self.put("vkey", key)
        words = ([AUDITOR, "verify", self.dir + "/audit", "--key", self.key], [self.go, self.dir + "/audit", self.key])
        return [subprocess.run(w, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False).returncode
                for w in words]


def main():
    need_go()
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    sizes = SIZES + (HUGE if LONG else ())
    found = {size: make_log(size) for size in sizes}
    check(all(len(found[size][0]) == size for size in sizes), f"logs of {', '.join(map(str, sizes))} records are made")
    judge = Judge()
    try:
        clean = [size for size in sizes if judge.verdicts(*found[size]) != [0, 0]]
        check(not clean, f"the logs themselves hold {clean}")
        accepted, crashed, apart, n = [], [], [], 0
        for n in range(10000 if LONG else 500):
            # Huge logs are slow to judge: one mutation in a hundred.
            size = rng.choice(HUGE if LONG and n % 100 == 0 else SIZES)
            lines, checkpoint, key = found[size]
            mutate = rng.choice(MUTATIONS)
            bent = mutate(rng, lines)
            if bent == lines:
                continue
            ours, go = judge.verdicts(bent, checkpoint, key)
            what = f"{mutate.__name__} of {size} records, number {n}: we {ours}, Go {go}"
            if ours == 0 or go == 0:
                accepted.append(what)
            elif ours not in (1, 5, 6) or go not in (1, 5, 6):
                crashed.append(what)
            elif ours != go:
                apart.append(what)
        check(not accepted, f"no mutation is accepted {accepted[:5]}")
        check(not crashed, f"none is anything but TAMPERED, INCOMPLETE or UNSUPPORTED {crashed[:5]}")
        check(not apart, f"both verifiers say the same of all {n + 1} {apart[:5]}")
    finally:
        shutil.rmtree(judge.dir)
    finish()


main()
