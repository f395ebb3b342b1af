"""Lengths of files, #if inside functions, and words that must not be there.

Run as: python3 test_sizes.py BUILD_DIR SOURCE_DIR.
"""
import os
import re
import subprocess
import sys

SOURCE = sys.argv[2]
FOLDERS = ("base", "policy", "audit", "executor", "mcp", "cli")
C_LINES, HEADER_LINES = 400, 120
# Headers that are tables: messages, rows of a policy, the layout macros.
TABLES = {"audit/event.h", "executor/launch.h", "executor/protocol.h", "policy/policy.h", "base/wire.h",
          "executor/trace/record.h", "executor/trace/mini_vmlinux.h"}
# In front of the parts this file is made of, so that it does not find itself.
WORDS = [
    (r"\bsystem\s*\(", "starts a shell"), (r"\bpopen\s*\(", "starts a shell"), (r'"sh",\s*"-c"|\bsh -c\b', "a shell"),
    (r"\b" + "TO" + r"DO\b|\bFIX" + r"ME\b|\bXX" + r"X\b", "an open end"),
]
PLACES = [("/wo" + "rk/", "a workplace"), ("../sha" + "red", "a workplace"), ("pypi" + ".org", "a registry"),
          ("files.python" + "hosted", "a registry"), ("registry.np" + "mjs", "a registry"),
          ("proxy.gol" + "ang", "a registry"), ("crates" + ".io", "a registry"), ("deb.deb" + "ian", "a registry")]


def tracked():
    """Files of the project; outside a checkout, all of them."""
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", SOURCE, "ls-files", "-z"], capture_output=True,
                          check=False)
    if done.returncode == 0 and done.stdout:
        return [os.fsdecode(p) for p in done.stdout.split(b"\0") if p]
    found = []
    for here, folders, names in os.walk(SOURCE):
        folders[:] = [f for f in folders if f not in ("build", ".git")]
        found += [os.path.relpath(f"{here}/{n}", SOURCE) for n in names]
    return found


def read(path):
    with open(f"{SOURCE}/{path}", "rb") as f:
        return f.read()


def is_ours(path):
    return path.endswith((".c", ".h")) and path.split("/")[0] in FOLDERS


def length_fault(path, text):
    lines = text.count("\n")
    if path.endswith(".c") and lines > C_LINES:
        return f"{path}: {lines} lines, at most {C_LINES}"
    if path.endswith(".h") and lines > HEADER_LINES and path not in TABLES:
        return f"{path}: {lines} lines, at most {HEADER_LINES}"
    return None


def conditionals_inside(path, text):
    """KNF: a function's body lies between '{' and '}' in column one."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside and re.match(r"\s*#\s*(if|else|elif|endif)", line):
            yield f"{path}:{number}: #if inside a function"


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def word_faults(path, text):
    code = without_comments(text)
    for pattern, why in WORDS:
        searched = text if why == "an open end" else code
        for found in re.finditer(pattern, searched):
            yield f"{path}:{searched.count(chr(10), 0, found.start()) + 1}: {found.group()!r}: {why}"


def place_faults(path, data):
    for place, why in PLACES:
        if place.encode() in data:
            yield f"{path}: mentions {place}: {why}"


def self_check():
    """Each rule must notice what it is for."""
    long_text, bad_if = "x\n" * (C_LINES + 1), "int f(void)\n{\n#if 1\n#endif\n}\n"
    notices = [
        length_fault("base/a.c", long_text), length_fault("base/a.h", "x\n" * (HEADER_LINES + 1)),
        list(conditionals_inside("a.c", bad_if)), list(word_faults("a.c", "x = sys" + "tem(y);")),
        list(word_faults("a.c", "/* TO" + "DO: later */")), list(place_faults("a", b"cd /wo" + b"rk/x")),
        not list(word_faults("a.c", "/* never sys" + "tem(3) */")), not length_fault("base/a.c", "x\n" * C_LINES),
    ]
    return [] if all(notices) else [f"a rule notices nothing: {[bool(n) for n in notices]}"]


def main():
    lengths, conditionals, words, places = [], [], [], []
    for path in tracked():
        if not os.path.isfile(f"{SOURCE}/{path}"):
            continue
        data = read(path)
        places += place_faults(path, data)
        if not is_ours(path):
            continue
        text = data.decode("utf-8", "replace")
        lengths += filter(None, [length_fault(path, text)])
        conditionals += conditionals_inside(path, text)
        words += word_faults(path, text)
    bad = 0
    for name, faults in (("the rules notice what they are for", self_check()),
                         (f"files keep to {C_LINES} lines, headers to {HEADER_LINES}", lengths),
                         ("no #if inside a function", conditionals),
                         ("no shell, no open ends", words),
                         ("no place outside the project is named", places)):
        print(f"{'FAIL' if faults else 'ok  '} {name}")
        for fault in faults:
            print(f"     {fault}")
        bad += len(faults)
    return 1 if bad else 0


sys.exit(main())
