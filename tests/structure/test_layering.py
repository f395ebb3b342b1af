"""Who may include whom, as a test; and every header compiles alone.

Run as: python3 test_layering.py BUILD_DIR SOURCE_DIR.
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = sys.argv[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)

# folder -> what its files may include: a folder, or a single header.
MAY = {
    "base": ["base/"],
    "policy": ["policy/", "base/"],
    "audit": ["audit/", "base/"],
    # Of audit/: how to speak with the signer and how to start it, and the text of a receipt.
    "executor": ["executor/", "policy/", "audit/client.h", "audit/dsse.h", "audit/event.h", "audit/signer.h",
                 "audit/words.h", "base/"],
    "mcp": ["mcp/", "executor/protocol.h", "executor/service.h", "base/"],
    "cli": ["cli/", "base/"],
}
# A command serves one folder; the others are none of its business.
CLI_SERVES = [["executor/protocol.h", "executor/service.h", "audit/words.h"], ["policy/"], ["audit/"],
              ["executor/signer_start.h"]]
# Who else may include a header, each with its reason.
EXCEPTIONS = {
    # The policy command finds its presets and languages beside the programs.
    "cli/policy.c": ["executor/service.h"],
    "cli/languages.c": ["executor/service.h"],
    # The audit command finds the state directory as a front does.
    "cli/audit.c": ["executor/service.h"],
}


def allowed(path, header, granted):
    return any(header == g or (g.endswith("/") and header.startswith(g)) for g in granted)


def faults_of(path, text):
    """The faults of one file, 'path' relative to the top."""
    folder = path.split("/")[0]
    headers = INCLUDE.findall(text)
    granted = MAY[folder] + EXCEPTIONS.get(path, [])
    for header in headers:
        if "/" not in header or header.startswith(".."):
            yield f"{path}: include {header} by its path from the top"
        elif folder != "cli" and not allowed(path, header, granted):
            yield f"{path}: {folder}/ must not include {header}"
    if folder == "cli":
        foreign = [h for h in headers if "/" in h and not allowed(path, h, granted)]
        if foreign and not any(all(allowed(path, h, s) for h in foreign) for s in CLI_SERVES):
            yield f"{path}: a command serves one folder, this includes {', '.join(foreign)}"


def files(top):
    for folder in MAY:
        for here, _, names in os.walk(f"{top}/{folder}"):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(f"{here}/{name}", top)


def all_faults(top):
    found = []
    for path in files(top):
        with open(f"{top}/{path}", encoding="utf-8") as f:
            found += faults_of(path, f.read())
    return found


def planted():
    """The check itself must notice each of these."""
    wrong = [
        ("base/a.c", "policy/policy.h"), ("policy/a.c", "executor/launch.h"), ("policy/a.c", "audit/event.h"),
        ("audit/a.c", "executor/protocol.h"), ("executor/a.c", "audit/record.h"), ("executor/a.c", "cli/say.h"),
        ("mcp/a.c", "policy/policy.h"), ("mcp/a.c", "executor/launch.h"), ("base/a.c", "error.h"),
        ("cli/a.c", "executor/launch.h"), ("cli/a.c", "mcp/tools.h"),
    ]
    missed = []
    for path, header in wrong:
        with tempfile.TemporaryDirectory() as top:
            os.makedirs(f"{top}/{path.split('/')[0]}")
            with open(f"{top}/{path}", "w", encoding="utf-8") as f:
                f.write(f'#include <stdio.h>\n#include "{header}"\n')
            if not all_faults(top):
                missed.append(f"planted {path} -> {header} was not noticed")
    both = '#include "policy/policy.h"\n#include "audit/event.h"\n'
    if not list(faults_of("cli/a.c", both)):
        missed.append("a command that serves two folders was not noticed")
    if list(faults_of("policy/a.c", '#include "base/error.h"\n#include "policy/policy.h"\n')):
        missed.append("a proper include was refused")
    return missed


def lonely_headers(top):
    """Each header compiles with nothing in front of it."""
    for path in files(top):
        if not path.endswith(".h"):
            continue
        done = subprocess.run(
            ["cc", "-std=c17", "-D_GNU_SOURCE", "-I.", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c", "-"],
            input=f'#include "{path}"\ntypedef int keep_compilers_content;\n', cwd=top, capture_output=True, text=True,
            check=False)
        if done.returncode != 0:
            yield f"{path} does not compile alone: {done.stderr.splitlines()[0] if done.stderr else '?'}"


def main():
    bad = 0
    for name, faults in (("the check notices planted violations", planted()),
                         ("includes point the allowed way", all_faults(SOURCE)),
                         ("each header compiles alone", list(lonely_headers(SOURCE)))):
        print(f"{'FAIL' if faults else 'ok  '} {name}")
        for fault in faults:
            print(f"     {fault}")
        bad += len(faults)
    return 1 if bad else 0


sys.exit(main())
