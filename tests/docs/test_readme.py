"""The lines of README.md do what it says, on a host of their own.

    test_readme.py BUILD_DIR SOURCE_DIR

Every ```sh block but the first (the two scripts, which CI itself runs) is run
line for line with the built command on PATH.  A private mount namespace gives
it /var/lib, /etc and /srv of its own, so the default places are used and the
host's are not touched.
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
BAILIFF = f"{BUILD}/bin/bailiff"
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000

libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind, flags=0, data=None):
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags,
                  data.encode() if data else None) != 0:
        raise OSError(ctypes.get_errno(), f"mount {kind} on {target}")


def own_places(scratch):
    """/var/lib, /srv: empty; /etc: as it is, changes go to 'scratch'."""
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", "none", MS_REC | MS_PRIVATE)
    mount("tmpfs", scratch, "tmpfs")
    for name in ("upper", "work"):
        os.mkdir(f"{scratch}/{name}")
    mount("overlay", "/etc", "overlay", 0,
          f"lowerdir=/etc,upperdir={scratch}/upper,workdir={scratch}/work")
    for place in ("/var/lib", "/srv"):
        mount("tmpfs", place, "tmpfs", 0, "mode=755")


def blocks():
    """-> [(heading, text of a ```sh block)]"""
    heading, found, text = "", [], None
    for line in open(f"{SOURCE}/README.md"):
        if text is not None:
            if line.startswith("```"):
                found.append((heading, text))
                text = None
            else:
                text += line
        elif line.startswith("## "):
            heading = line[3:].strip()
        elif line.startswith("```sh"):
            text = ""
    return found


def sh(text, cwd):
    done = subprocess.run(["/bin/bash", "-ec", text], cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def check(ok, what, *more):
    print("ok  " if ok else "FAIL", what, *([] if ok else more))
    return 0 if ok else 1


def main():
    if os.geteuid() != 0:
        print("skipped: needs root, this is uid", os.geteuid())
        return 77
    scratch = tempfile.mkdtemp(prefix="bailiff-readme-")
    try:
        own_places(scratch)
    except OSError as why:
        print("skipped: no private /etc and /var/lib:", why)
        return 77
    work = f"{scratch}/home"
    os.makedirs(f"{work}/examples")
    for name in os.listdir(f"{SOURCE}/examples"):
        if name.startswith("hello"):
            subprocess.run(["cp", f"{SOURCE}/examples/{name}",
                            f"{work}/examples/"], check=True)
    os.mkdir("/srv/data")
    with open("/srv/data/in.csv", "w") as f:
        f.write("a,b\n1,2\n")
    with open(f"{work}/job.py", "w") as f:
        f.write("print(open('in.csv').read().count(','))\n")
    os.environ["PATH"] = f"{BUILD}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    failed, run = 0, ""
    for heading, text in blocks()[1:]:
        # A run id stands where the text says RUN.
        text = re.sub(r"\bresult RUN\b", f"result {run}", text)
        text = text.replace("r_... r_... r_...", run)
        code, out, err = sh(text, work)
        failed += check(code == 0, f"{heading}: every line ends with 0", code,
                        out, err)
        ids = re.findall(r"r_[0-9a-f]{32}", out)
        run = ids[-1] if ids else run
        if heading == "A first run":
            failed += check("42\n7\n" in out and '"status":"ok"' in out,
                            "its lines print what they compute", out)
    code, out, err = sh("bailiff run --policy my-policy.json --file "
                        "/srv/data/../../etc/passwd:p job.py", work)
    failed += check(code == 126 and "path.traversal" in err,
                    "the example of a denial is denied", code, out, err)
    code, out, err = sh("bailiff audit verify --known "
                        "/var/lib/bailiff/audit/checkpoint", work)
    failed += check(code == 0, "a kept checkpoint agrees", code, out, err)
    for options in ("", "--policy my-policy.json"):
        sh(f"bailiff stop {options}", work)
    os.chdir("/")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
