#!/usr/bin/python3
"""Run black-box tests on Debian 12's stock kernel: 6.1, pure cgroup v2.

    test_vm.py BUILD_DIR SOURCE_DIR [TEST...]

Boots qemu in software emulation with Debian's cloud kernel and a small root
file system made of the packages that are installed here, then runs each TEST
(a path below tests/, default: DEFAULT) inside, as root.  Everything it makes
lies below BUILD_DIR/PLACE.  Exit 0 if all passed, 1 if one failed, 77 if qemu or
the kernel package cannot be had.
"""
import os
import re
import shutil
import subprocess
import sys

DEFAULT = ["service/test_run.py", "escape/test_launch.py"]
PLACE = "vm"  # beneath BUILD_DIR
PACKAGES = """base-files bash coreutils dash findutils grep gzip hostname
libacl1 libattr1 libaudit1 libblkid1 libbz2-1.0 libc6 libc-bin libcap2
libcap-ng0 libcom-err2 libcrypt1 libdb5.3 libexpat1 libffi8 libgcc-s1 libgcrypt20
libgmp10 libgpg-error0 libjansson4 liblz4-1 liblzma5 libmount1 libncursesw6
libnsl2 libpam0g libpcre2-8-0 libproc2-0 libpython3.11-minimal
libpython3.11-stdlib libreadline8 libseccomp2 libselinux1 libsmartcols1
libsodium23 libsqlite3-0 libssl3 libstdc++6 libsystemd0 libtinfo6 libtirpc3
libudev1 libuuid1 libvectorscan5 libbpf1 libelf1 e2fsprogs libext2fs2 libss2 libzstd1 media-types mount netbase passwd procps
python3.11 python3.11-minimal python3-minimal python3 sed tar tzdata util-linux
util-linux-extra zlib1g libpython3-stdlib""".split()
MODULES = ["virtio_pci", "virtio_blk", "overlay"]
MEMORY_MIB = 3072
# Attaching a tracer changes the kernel's text.  qemu with a thread for each
# processor can go on with the old translation: one processor then meets the
# same breakpoint for ever ("soft lockup" in syscall_trace_enter, seen often
# with qemu 7.2).  So who tests tracing waits for one thread, and others do
# not trace.
TRACING = ("trace/", "service/test_trace")
TIMEOUT_S = 570 # below the bound that ctest sets


def run(*argv, **kw):
    return subprocess.run(argv, check=True, text=True, **kw)


def skip(why):
    print(f"SKIP hosts/vm: {why}")
    sys.exit(77)


def fetch_kernel(where):
    """-> directory with the unpacked kernel package"""
    into = f"{where}/kernel"
    if os.path.isdir(f"{into}/boot"):
        return into
    out = run("apt-cache", "depends", "linux-image-cloud-amd64",
              capture_output=True).stdout
    names = re.findall(r"Depends: (linux-image-[0-9]\S+)", out)
    if not names:
        skip("no package linux-image-cloud-amd64; run apt-get update")
    got = subprocess.run(["apt-get", "download", names[0]], cwd=where,
                         capture_output=True, text=True)
    debs = [f for f in os.listdir(where) if f.endswith(".deb")]
    if got.returncode != 0 or not debs:
        skip("cannot download " + names[0])
    run("dpkg-deb", "-x", f"{where}/{debs[0]}", into)
    return into


def copy_packages(root):
    """The files of PACKAGES, as they lie here (merged /usr)."""
    names = set()
    for package in PACKAGES:
        out = subprocess.run(["dpkg", "-L", package], capture_output=True,
                             text=True).stdout
        names.update(out.split("\n"))
    for link in ("bin", "sbin", "lib", "lib64"):
        os.symlink(f"usr/{link}", f"{root}/{link}")
        os.makedirs(f"{root}/usr/{link}", exist_ok=True)
    for name in sorted(n for n in names if n.startswith("/")):
        if re.match(r"/usr/share/(doc|man|locale|info)/", name):
            continue
        real = os.path.realpath(os.path.dirname(name)) + "/" + \
            os.path.basename(name)
        if os.path.islink(real) or os.path.isfile(real):
            to = root + real
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if not os.path.lexists(to):
                shutil.copy2(real, to, follow_symlinks=False)
    for name in ("etc/passwd", "etc/group", "etc/ld.so.cache", "etc/ld.so.conf",
                 "etc/nsswitch.conf", "etc/alternatives", "etc/ld.so.conf.d"):
        if os.path.isdir("/" + name):
            shutil.copytree("/" + name, f"{root}/{name}", symlinks=True,
                            dirs_exist_ok=True)
        elif os.path.exists("/" + name):
            os.makedirs(f"{root}/etc", exist_ok=True)
            shutil.copy2("/" + name, f"{root}/{name}")


INIT = """#!/bin/bash
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts; mount -t devpts -o ptmxmode=666 devpts /dev/pts; ln -sf pts/ptmx /dev/ptmx
ln -s /proc/self/fd /dev/fd; mount -t tmpfs tmpfs /tmp; mount -t tmpfs -o mode=755 tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /etc/bailiff
ulimit -n 20000; ulimit -c 0
export PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 $(cat /environment)
echo "vm: $(uname -r), cgroup2 controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
failed=0
for t in $(cat /tests.list); do
  /usr/bin/python3 /src/tests/$t /build /src; rc=$?
  echo "vm: $t exit $rc"
  [ $rc = 0 ] || [ $rc = 77 ] || failed=1
done
echo "vm: result $failed"
echo o > /proc/sysrq-trigger; sleep 5
"""


def is_traced(tests):
    return any(test.startswith(TRACING) for test in tests)


def make_root(where, build, source, tests):
    root = f"{where}/root"
    shutil.rmtree(root, ignore_errors=True)
    for d in ("proc", "sys", "dev", "tmp", "run", "var/lib", "root", "build",
              "src", "etc/bailiff", "usr/sbin"):
        os.makedirs(f"{root}/{d}", exist_ok=True)
    copy_packages(root)
    for d in ("bin", "libexec", "share", "tests"):
        shutil.copytree(f"{build}/{d}", f"{root}/build/{d}",
                        ignore=shutil.ignore_patterns("CMakeFiles"))
    for d in ("tests", "examples"):
        shutil.copytree(f"{source}/{d}", f"{root}/src/{d}", symlinks=True)
    with open(f"{root}/tests.list", "w") as f:
        f.write("\n".join(tests) + "\n")
    with open(f"{root}/environment", "w") as f:
        f.write("" if is_traced(tests) else "BAILIFF_TEST_UNTRACED=1\n")
    with open(f"{root}/init", "w") as f:
        f.write(INIT)
    os.chmod(f"{root}/init", 0o755)
    image = f"{where}/root.ext4"
    if os.path.exists(image):
        os.unlink(image)
    run("mke2fs", "-q", "-t", "ext4", "-d", root, image, "1200M",
        stdout=subprocess.DEVNULL)
    return image


RAMDISK_INIT = """#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for m in $(/bin/busybox cat /modules.list); do /bin/busybox insmod $m; done
for i in 1 2 3 4 5 6 7 8 9 10; do [ -b /dev/vda ] && break; /bin/busybox sleep 0.3; done
/bin/busybox mount -t ext4 /dev/vda /new
exec /bin/busybox switch_root /new /init
"""


def make_ramdisk(where, kernel):
    version = os.listdir(f"{kernel}/lib/modules")[0]
    run("depmod", "-b", kernel, version)
    ram = f"{where}/ram"
    shutil.rmtree(ram, ignore_errors=True)
    for d in ("bin", "dev", "new", "m"):
        os.makedirs(f"{ram}/{d}")
    shutil.copy2("/bin/busybox", f"{ram}/bin/busybox")
    order = []
    for module in MODULES:
        out = subprocess.run(["modprobe", "-d", kernel, "-S", version,
                              "--show-depends", module],
                             capture_output=True, text=True).stdout
        for path in re.findall(r"^insmod (\S+)", out, re.M):
            name = "/m/" + os.path.basename(path)
            if name not in order:
                shutil.copy2(path, ram + name)
                order.append(name)
    with open(f"{ram}/modules.list", "w") as f:
        f.write("\n".join(order))
    with open(f"{ram}/init", "w") as f:
        f.write(RAMDISK_INIT)
    os.chmod(f"{ram}/init", 0o755)
    names = subprocess.run(["find", ".", "-print0"], cwd=ram,
                           capture_output=True).stdout
    with open(f"{where}/ram.cpio", "wb") as f:
        subprocess.run(["cpio", "--null", "-o", "-H", "newc", "--quiet"],
                       cwd=ram, input=names, stdout=f, check=True)
    return f"{where}/ram.cpio", f"{kernel}/boot/vmlinuz-{version}"


def main():
    build, source = (os.path.abspath(p) for p in sys.argv[1:3])
    tests = sys.argv[3:] or DEFAULT
    for tool in ("qemu-system-x86_64", "mke2fs", "cpio", "depmod", "dpkg-deb"):
        if not shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            skip(f"no {tool}; apt-get install qemu-system-x86 busybox-static "
                 "cpio kmod e2fsprogs")
    if not os.path.exists("/bin/busybox"):
        skip("no /bin/busybox; apt-get install busybox-static")
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    where = f"{build}/{PLACE}"
    os.makedirs(where, exist_ok=True)
    ram, vmlinuz = make_ramdisk(where, fetch_kernel(where))
    image = make_root(where, build, source, tests)
    accel = "tcg,thread=" + ("single" if is_traced(tests) else "multi")
    argv = ["qemu-system-x86_64", "-machine", "q35", "-accel", accel, "-cpu", "max",
            "-smp", "2", "-m", str(MEMORY_MIB), "-nographic", "-no-reboot",
            "-kernel", vmlinuz, "-initrd", ram, "-nic", "none",
            "-drive", f"file={image},format=raw,if=virtio,cache=unsafe",
            "-append", "console=ttyS0 panic=-1 quiet loglevel=3"]
    try:
        out = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                             errors="replace", capture_output=True,
                             timeout=TIMEOUT_S)
        text = out.stdout
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        print(f"FAIL hosts/vm: no end after {TIMEOUT_S} s")
    print(text)
    return 0 if re.search(r"^vm: result 0\r?$", text, re.M) else 1


if __name__ == "__main__":
    sys.exit(main())
