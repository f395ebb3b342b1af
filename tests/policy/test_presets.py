#!/usr/bin/python3
"""In every preset each language that is allowed, and is here, says hello, and
the presets are free of faults and of what is said in vain.

    test_presets.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "service"))

from lib import (BAILIFF, PRESET, Place, Skip, call, case, check,  # noqa: E402
                 equal, main, need_programs, need_root)

PRESETS = os.path.dirname(PRESET)
HELLO = {
    "bash": "echo hello | cat", "c": '#include <stdio.h>\nint main(void) { puts("hello"); }',
    "cpp": '#include <iostream>\nint main() { std::cout << "hello\\n"; }',
    "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println("hello") }',
    "java": 'public class Main { public static void main(String[] a) { System.out.println("hello"); } }',
    "javascript": 'console.log("hello")', "python": 'print("hello")', "r": 'cat("hello\\n")', "ruby": 'puts "hello"',
}


def hello(name):
    path = os.path.join(PRESETS, name)
    answer = json.loads(call([BAILIFF, "policy", "check", "--json", path]).out)
    place = Place()
    tried = 0
    for language in answer["languages"]:
        check(language["name"] in HELLO, "no hello in %s" % language["name"])
        if not language["available"]:
            continue
        r = place.json("--lang", language["name"], "-c", HELLO[language["name"]], policy=path).json
        equal((r["status"], r["stdout"]), ("ok", "hello\n"), "%s in %s" % (language["name"], name))
        tried += 1
    if tried == 0:
        raise Skip("none of its languages is here")


for preset in sorted(os.listdir(PRESETS)):
    @case("%s: what is allowed runs" % preset)
    def _(name=preset):
        hello(name)

    @case("%s: nothing is said in vain" % preset)
    def _(name=preset):
        r = call([BAILIFF, "policy", "check", "--json", os.path.join(PRESETS, name)])
        answer = json.loads(r.out)
        equal((r.code, answer["ok"]), (0, True), "check")
        # What depends on the host may be said, and that "user" takes less.
        vain = [w for w in answer["warnings"] if "never" in w or "already" in w or "gives nothing" in w]
        # A host of one processor reaches no limit of two.
        vain = [w for w in vain if "processor" not in w]
        equal(vain, [], "warnings")


need_root()
need_programs("bailiff-policy", "bailiff-supervisor", "bailiff-launch")
main()
