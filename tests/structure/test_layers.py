"""Every layer is accounted for: each row of the confinement table, each kind of
namespace and each name of executor/omit.h is a row of tests/layers/layers.py,
or has its reason there; and no row names a layer that there is not.

Run as: python3 test_layers.py BUILD_DIR SOURCE_DIR.
"""
import glob
import os
import re
import sys

SOURCE = sys.argv[2]
sys.path.insert(0, os.path.join(SOURCE, "tests", "layers"))

from layers import LAYERS, NOT_OMITTED  # noqa: E402

# More kinds than anybody makes here would be a fault of this test.
FLAG = re.compile(r'(omit_from\(\s*"[\w-]+",\s*)?\b(CLONE_NEW\w+)')


def read(path):
    with open(os.path.join(SOURCE, path)) as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def table(path, head, row):
    """What 'row' finds in the array that begins with 'head'."""
    found = re.search(re.escape(head) + r"(.*?)\n?\};", read(path), re.S)
    return re.findall(row, found.group(1)) if found else []


def main():
    faults = []
    rows = table("executor/confine.c", "struct step steps[] = {",
                 r'\{\s*"(\w+)"')
    groups = table("executor/cgroup_leaf.c", "char *const layers[] = {",
                   r'"([\w-]+)"')
    if len(rows) < 9 or len(groups) < 5:
        faults.append("the tables of confine.c and cgroup_leaf.c are not found")
    names = set(rows) | set(groups)
    for path in glob.glob(os.path.join(SOURCE, "executor", "*.c")):
        names |= set(re.findall(r'omit_(?:has|from)\(\s*"([\w-]+)"',
                                read(os.path.relpath(path, SOURCE))))
    for path in ("executor/launch_slot.c", "executor/namespaces.c"):
        for omitted, flag in FLAG.findall(read(path)):
            if not omitted and flag not in NOT_OMITTED:
                faults.append("%s: %s cannot be left out, and no reason is "
                              "given in layers.py" % (path, flag))
    tried = {name for layer in LAYERS for name in layer.omit.split(",")}
    for name in sorted(names - tried - set(NOT_OMITTED)):
        faults.append("layer '%s' has no row in layers.py" % name)
    for name in sorted(tried - names):
        faults.append("layers.py leaves out '%s', which nothing knows" % name)
    for name in sorted(set(NOT_OMITTED) & tried):
        faults.append("'%s' is left out and has a reason why not" % name)
    for fault in faults:
        print("FAIL " + fault)
    if not faults:
        print("ok   every layer has its attempt or its reason (%d, %d)" % (
            len(tried), len(NOT_OMITTED)))
    sys.exit(1 if faults else 0)


main()
