"""Compiled languages: two sandboxes, one record; what the compiler may do and how it ends.

Run as: python3 test_compile.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import os
import shutil
import signal

from lib import PATIENCE_S, Place, Skip, case, check, equal, kill, main, need_programs, need_root, recorded, wait_for

# Doubles with each level: no machine expands it to the end.
BOMB = "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(60)) + "#define A0 int x;\nA60\n"

# It includes itself, twice on each level: no machine reads it to the end, and little is kept of it.
ENDLESS = '#if __INCLUDE_LEVEL__ < 60\n#include "main.c"\n#include "main.c"\n#endif\n'


def outcomes(place):
    return [r for r in place.records() if r["type"] == "outcome"]


def c(place, code, *words, **more):
    return place.json("--lang", "c", *words, "-c", code, **more).json


@case("one intent, one outcome, two phases; arguments, input, output and files are the program's")
def _():
    p = Place()
    r = p.json("--lang", "c", "-c", """
#warning the compiler says something
#include <stdio.h>
int main(int n, char **v) { char b[9]; fputs("x", fopen("left.txt", "w"));
  printf("%d %s %s", n, v[1], fgets(b, 9, stdin)); return 7; }""", "--", "word", stdin=b"line\n").json
    equal((r["status"], r["phase"], r["exit_code"], r["stdout"], r["stderr"]), ("error", "run", 7, "2 word line\n", ""), "reply")
    equal(sorted(os.listdir(os.path.join(r["result_folder"], "files"))), ["left.txt"], "files")
    end = outcomes(p)[0]
    equal([(x["phase"], x["exit"]) for x in end["phases"]], [("compile", {"code": 0}), ("run", {"code": 7})], "phases")
    equal([x["type"] for x in p.records()].count("intent"), 1, "intents")
    check({"build", "compile", "rebuild", "run"} <= set(end["timing"]), "timing %r" % end["timing"])
    equal(p.verify().code, 0, "verify")


@case("what does not compile does not run: its message, in the user's own file name")
def _():
    p = Place()
    for language, code, said in (("c", "int main(void) { return x; }", "main.c:1:"),
                                 ("cpp", "int main() { return x; }", "main.cpp:1:"),
                                 ("go", "package main\nfunc main() { x }\n", "main.go:2:")):
        r = p.json("--lang", language, "-c", code).json
        equal((r["status"], r["phase"], r["use"]["files"]), ("error", "compile", 0), language)
        check(said in r["stderr"] and r["exit_code"] != 0, "%s: %r" % (language, r["stderr"]))
        shown = p.run("--lang", language, "-c", code)
        check(said.encode() in shown.err and shown.code == r["exit_code"], "%s: %r" % (language, shown))
    end = outcomes(p)[0]
    equal((end["phase"], [x["phase"] for x in end["phases"]]), ("compile", ["compile"]), "record")
    equal(p.verify().code, 0, "verify")


@case("a compiler ends at the policy's most, whatever the request asked for the program")
def _():
    limits = {"wall_ms": {"default": 500, "max": 3000}}
    p = Place(limits=limits)
    r = c(p, BOMB, "--timeout", "0.2")
    check((r["status"], r["phase"]) in (("timeout", "compile"), ("memory", "compile")), "%r" % r["status"])
    check(r["use"]["wall_us"] > 200000, "it had its own time: %r" % r["use"])
    p = Place(limits={"memory": {"default": 33554432, "max": 67108864}})
    r = c(p, BOMB)
    equal((r["status"], r["phase"], r["killed_by"]), ("memory", "compile", "memory"), r["stderr"][-300:])
    r = c(p, "int main(void) { return 0; }")
    equal((r["status"], r["phase"]), ("ok", "run"), "the next run")


@case("a compiler ends at limits of its own where the policy gives it some, and the program at its own")
def _():
    p = Place(limits={"wall_ms": {"default": 20000, "max": 30000}},
              languages={"c": {"compile_limits": {"memory": 67108864, "output": 1 << 20}}})
    r = c(p, BOMB)
    equal((r["status"], r["phase"], r["killed_by"]), ("memory", "compile", "memory"), r["stderr"][-300:])
    r = c(p, """#include <stdlib.h>
#include <string.h>
int main(void) { char *b = malloc(150000000); memset(b, 1, 150000000); return b[9] == 1 ? 0 : 3; }""")
    equal((r["status"], r["phase"]), ("ok", "run"), "the program has its own: %r" % r["stderr"])
    p = Place(languages={"c": {"compile_limits": {"wall_ms": 300}}})
    r = c(p, BOMB)
    equal((r["status"], r["phase"], r["killed_by"]), ("timeout", "compile", "wall"), r["stderr"][-300:])


@case("a compiler reads what the run sees, and nothing of the host")
def _():
    p = Place()
    for path in ("/etc/shadow", "/root/.bashrc", p.policy, "/proc/1/environ"):
        r = c(p, '#include "%s"\nint main(void) { return 0; }' % path)
        equal((r["status"], r["phase"]), ("error", "compile"), path)
        recorded(p, r)
        check("No such file" in r["stderr"] or "ermission denied" in r["stderr"] or "not permitted" in r["stderr"], "%s: %r" % (path, r["stderr"][:300]))


@case("the program is the sealed file, alone: it cannot change itself, nor start another")
def _():
    p = Place(languages={"c": {"capabilities": {"subprocess": False, "exec_memory": False}}})
    r = c(p, """
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void say(const char *what, long got) { printf("%s %s\\n", what, got < 0 ? "refused" : "done"); }
int main(void) {
  static char b[1 << 20];
  int self = open("/proc/self/exe", O_RDONLY), to = open("copy", O_RDWR | O_CREAT, 0777);
  long n = self < 0 ? -1 : read(self, b, sizeof(b));
  if (n > 0 && write(to, b, n) != n) return 9;
  close(to); chmod("copy", 0777);
  say("write", open("/proc/self/exe", O_RDWR));
  fflush(stdout);
  say("exec", execl("/sandbox/copy", "copy", (char *)0));
  fflush(stdout);
  say("exec", execl("/usr/bin/true", "true", (char *)0));
  return 0; }""")
    equal((r["status"], r["stdout"]), ("ok", "write refused\nexec refused\nexec refused\n"), r["stderr"])


@case("compiler and program are traced apart")
def _():
    p = Place(trace="required")
    r = p.json("--lang", "c", "-c", "int main(void) { return 0; }").json
    if r["decision"] is None and "trace" in r["error"]:
        raise Skip(r["error"])
    equal((r["status"], r["phase"]), ("ok", "run"), r["error"])
    found = sorted(n for n in os.listdir(r["result_folder"]) if n.startswith("trace"))
    equal(found, ["trace.compile.jsonl", "trace.jsonl"], "traces")
    with open(os.path.join(r["result_folder"], "trace.compile.jsonl"), encoding="ascii") as f:
        check("cc1" in f.read(), "the compiler's own programs are seen")
    equal(p.verify().code, 0, "verify")


@case("a policy that keeps no files still runs what is compiled")
def _():
    p = Place(limits={"artifacts": {"default": 0, "max": 0}, "artifact_bytes": {"default": 0, "max": 0},
                      "artifact_depth": {"default": 0, "max": 0}})
    r = c(p, '#include <stdio.h>\nint main(void) { fputs("x", fopen("left", "w")); return 5; }')
    equal((r["phase"], r["exit_code"], r["use"]["files"]), ("run", 5, 0), r["failed"])


@case("a cancelled compiler is the end of the run")
def _():
    p = Place()
    c(p, "int main(void) { return 0; }")
    front = p.start("--lang", "c", "-c", ENDLESS)
    wait_for(lambda: [r for r in p.records() if r["type"] == "intent"][1:], "its intent")
    front.send_signal(signal.SIGINT)
    out, err = front.communicate(timeout=PATIENCE_S)
    equal(front.returncode, 130, "exit (%r)" % err)
    wait_for(lambda: len(outcomes(p)) == 2, "its outcome")
    end = outcomes(p)[1]
    equal((end["status"], end["killed_by"]), ("cancelled", "client"), "record")
    equal(c(p, "int main(void) { return 0; }")["status"], "ok", "the next run")


@case("killed with its launcher, the compiler leaves nothing")
def _():
    p = Place()
    c(p, "int main(void) { return 0; }")
    front = p.start("--lang", "c", "-c", ENDLESS)
    wait_for(lambda: [r for r in p.records() if r["type"] == "intent"][1:], "its intent")
    kill(p.launchers()[0])
    front.communicate(timeout=PATIENCE_S)
    check(front.returncode != 0, "exit")
    wait_for(lambda: not p.supervisors(), "the service's end")
    equal(c(p, "int main(void) { return 0; }")["status"], "ok", "the next service")
    check(p.verify().code in (0, 5), "verify")


need_root()
need_programs("bailiff-supervisor", "bailiff-launch", "bailiff-signer")
for tool in ("gcc", "g++", "go"):
    if shutil.which(tool, path="/usr/bin") is None:
        print("skipped: no %s; scripts/install-languages brings it" % tool)
        raise SystemExit(77)
main()
