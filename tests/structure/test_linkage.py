"""What each program links: one privilege, one program, read from its symbols.

Run as: python3 test_linkage.py BUILD_DIR SOURCE_DIR.  Reads the symbol tables
of an unstripped build with readelf and nm (binutils).
"""
import functools
import os
import re
import subprocess
import sys

BUILD = sys.argv[1]
LIBC = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

# Our own parts, by the object files they are made of; what others may share is left out.
OWN = {
    "policy": (r"^policy/CMakeFiles/policy\.dir/", r"$^"),
    "code screening": (r"^policy/CMakeFiles/screening\.dir/", r"$^"),
    "log": (r"^audit/", r"/(event|client|words|dsse|lock)\.c\.o$"),
    "builder": (r"^executor/.*launch\w*\.dir/", r"$^"),
    "opening": (r"/opener_reason\.c\.o$", r"$^"),
    "walk": (r"/walk\.c\.o$", r"$^"),
}
# Libraries, by their calls: a static program has no NEEDED to read.  (The jail opens "/" to prove that it may not.)
LIBRARY = {"starting": r"^(fork|execve|execv|fexecve|posix_spawn|clone|openat|openat64|connect|bind|socket)$", "json": r"^json_(load\w*|dump\w*|object_get|array_get|delete)$", "crypto": r"^(crypto_|sodium_)", "filter library": r"^seccomp_(init|rule|load|export)"}
# program -> the libraries it may need beside libc, and the parts it must not hold.
PROGRAMS = {
    "bin/bailiff": (set(), {"policy", "log", "json", "crypto", "filter library", "builder", "opening", "walk", "code screening"}),
    "libexec/bailiff/bailiff-supervisor":
        ({"libseccomp.so.2"}, {"json", "crypto", "log", "builder", "opening", "walk", "code screening"}),
    "libexec/bailiff/bailiff-launch":
        (set(), {"policy", "log", "json", "crypto", "filter library", "opening", "walk", "code screening"}),
    "libexec/bailiff/bailiff-opener":
        (set(), {"policy", "log", "json", "crypto", "filter library", "builder", "walk", "code screening"}),
    "libexec/bailiff/bailiff-collect":
        (set(), {"policy", "log", "json", "crypto", "filter library", "builder", "opening", "code screening"}),
    # Vectorscan is C++, and finds its own run time.
    "libexec/bailiff/bailiff-screen":
        ({"libhs.so.5"}, {"policy", "log", "json", "crypto", "filter library", "builder", "opening", "walk"}),
    "libexec/bailiff/bailiff-syncer":
        (set(), {"policy", "log", "json", "crypto", "filter library", "builder", "opening", "walk", "code screening"}),
    "libexec/bailiff/bailiff-tracer":
        # libseccomp knows the names of calls; no rule of a filter is made by it.
        ({"libbpf.so.1", "libseccomp.so.2", "libz.so.1"}, {"policy", "log", "json", "crypto", "filter library", "builder", "opening", "walk", "code screening"}),
    "libexec/bailiff/bailiff-signer":
        # It loads a filter of its own before it reads the first event.
        ({"libsodium.so.23", "libseccomp.so.2"}, {"policy", "json", "builder", "opening", "walk", "code screening"}),
    "libexec/bailiff/bailiff-mcp":
        (set(), {"policy", "log", "json", "crypto", "filter library", "builder", "opening", "walk", "starting", "code screening"}),
    "libexec/bailiff/bailiff-policy":
        ({"libseccomp.so.2", "libhs.so.5"}, {"log", "json", "crypto", "builder", "opening", "walk"}),
    "libexec/bailiff/bailiff-key":
        ({"libsodium.so.23"}, {"policy", "json", "filter library", "builder", "opening", "walk", "code screening"}),
    "libexec/bailiff/bailiff-audit":
        ({"libsodium.so.23", "libseccomp.so.2", "libz.so.1"}, {"policy", "json", "builder", "opening", "walk", "code screening"}),
}
# Calls that no object file of ours may make, checked copies included.
FORBIDDEN = {
    "system", "popen", "execlp", "execvp", "execvpe", "execl", "gets", "strcpy", "strcat", "sprintf", "vsprintf",
    "tmpnam", "tempnam", "mktemp", "dlopen", "wordexp", "alloca", "strtok", "atoi", "atol", "atof", "scanf", "sscanf",
    "setuid32", "vfork", "rand", "srand", "longjmp", "pthread_create",
}
CHECKED = re.compile(r"^__(\w+)_chk$")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", path)))


@functools.cache
def symbols(path, *options):
    """Names in a symbol table, without a version."""
    return {line.split()[-1].split("@")[0] for line in output("nm", *options, path).splitlines()
            if len(line.split()) >= 2}


def objects():
    for folder in ("base", "policy", "audit", "executor", "cli", "mcp"):
        for here, _, names in os.walk(f"{BUILD}/{folder}"):
            yield from (f"{here}/{n}" for n in sorted(names) if n.endswith(".o"))


@functools.cache
def names_of(part):
    """The functions and tables that an own part shows to others."""
    wanted, spared = OWN[part]
    paths = [path for path in objects() if re.search(wanted, os.path.relpath(path, BUILD))
             and not re.search(spared, os.path.relpath(path, BUILD))]
    lines = output("nm", "--defined-only", "--extern-only", *paths).splitlines() if paths else []
    return {line.split()[-1] for line in lines if len(line.split()) == 3} - {"main"}


def holds(path, part):
    if part in OWN:
        return sorted(symbols(path, "--defined-only") & names_of(part))
    return sorted(n for n in symbols(path) if re.match(LIBRARY[part], n))


def program_faults(name, libraries, parts):
    path = f"{BUILD}/{name}"
    if not os.path.exists(path):
        yield f"{name} was not built"
        return
    for extra in sorted(needed(path) - LIBC - libraries):
        yield f"{name} needs {extra}"
    if not symbols(path):
        yield f"{name} has no symbol table to read"
    for part in sorted(parts):
        found = holds(path, part)
        if found:
            yield f"{name} holds {part}: {', '.join(found[:6])}"


def forbidden_calls():
    for line in output("nm", "-A", "-u", *objects()).splitlines():
        path, _, rest = line.partition(":")
        name = rest.split()[-1].split("@")[0]
        match = CHECKED.match(name)
        bare = re.sub(r"^__isoc99_", "", match.group(1) if match else name)
        if bare in FORBIDDEN:
            yield f"{os.path.relpath(path, BUILD)} calls {bare}"


def hardening_faults(name):
    path = f"{BUILD}/{name}"
    if not os.path.exists(path):
        return
    header, segments, dynamic = output("readelf", "-h", path), output("readelf", "-lW", path), \
        output("readelf", "-d", path)
    if "DYN" not in header:
        yield f"{name} is not position independent"
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|\bNOW\b", dynamic):
        yield f"{name} keeps its jump slots writable"
    stack = re.search(r"GNU_STACK.*", segments)
    if stack is None or "RWE" in stack.group():
        yield f"{name} has an executable stack"
    if re.search(r"LOAD.*\bRWE\b", segments):
        yield f"{name} has memory that is writable and executable"
    if "RPATH" in dynamic or "RUNPATH" in dynamic:
        yield f"{name} looks for libraries by a path of its own"


def self_check():
    """Every part must be found where it belongs, or its pattern has gone stale."""
    where = {
        "code screening": "libexec/bailiff/bailiff-screen",
        "policy": "libexec/bailiff/bailiff-policy", "log": "libexec/bailiff/bailiff-signer",
        "crypto": "libexec/bailiff/bailiff-signer",
        "filter library": "libexec/bailiff/bailiff-supervisor", "builder": "libexec/bailiff/bailiff-launch",
        "opening": "libexec/bailiff/bailiff-opener", "walk": "libexec/bailiff/bailiff-collect",
    }
    for part, name in where.items():
        if os.path.exists(f"{BUILD}/{name}") and not holds(f"{BUILD}/{name}", part):
            yield f"no {part} found in {name}: the pattern is stale"
    if not list(objects()):
        yield "no object files to read"


def main():
    checks = [("each part is found where it belongs", list(self_check())),
              ("no object file calls what we forbid", list(forbidden_calls()))]
    for name, (libraries, parts) in PROGRAMS.items():
        checks.append((f"{name} holds its own part and no other",
                       list(program_faults(name, libraries, parts)) + list(hardening_faults(name))))
    bad = 0
    for name, faults in checks:
        print(f"{'FAIL' if faults else 'ok  '} {name}")
        for fault in faults:
            print(f"     {fault}")
        bad += len(faults)
    return 1 if bad else 0


sys.exit(main())
