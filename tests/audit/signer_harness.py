"""Starts bailiff-signer as a supervisor would, on directories of its own, and
speaks to it through signer_driver.  Used by the tests of the signer."""
import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

BUILD, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SIGNER = os.path.join(BUILD, "libexec/bailiff/bailiff-signer")
DRIVER = os.path.join(BUILD, "tests/signer_driver")
AUDITOR = os.path.join(BUILD, "libexec/bailiff/bailiff-audit")
FAILED = []


def check(good, what):
    print(("ok    " if good else "FAIL  ") + what, flush=True)
    if not good:
        FAILED.append(what)
    return good


def finish():
    sys.exit(1 if FAILED else 0)


class Log:
    """One state directory."""

    def __init__(self, base=None, user=None):
        self.dir = tempfile.mkdtemp(prefix="bailiff-signer-", dir=base)
        os.chmod(self.dir, 0o700)
        for name in ("audit", "keys", "state", "pin"):
            os.mkdir(self.path(name), 0o700)
            if user is not None:
                os.chown(self.path(name), user, user)
        self.program = SIGNER
        if user is not None:
            # That user may have no way to the build tree.
            os.chmod(self.dir, 0o711)
            self.program = shutil.copy(SIGNER, self.path("bailiff-signer"))
        self.who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        self.process = None
        self.starts = 0

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def start(self, *options, new=None, env=None):
        """Returns the line on the ready pipe."""
        self.starts += 1
        self.socket = self.path("s%d" % self.starts)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(self.socket)
        listener.listen(64)
        if new is None:
            new = not os.path.exists(self.path("keys", "log.key"))
        flags = os.O_RDONLY | os.O_DIRECTORY
        opened = [listener.detach()]
        opened += [os.open(self.path(n), flags) for n in ("audit", "keys", "state")]
        opened += [os.open(self.path("pin"), flags)] if new else [-1]
        opened += [os.open(self.path("lock"), os.O_RDWR | os.O_CREAT, 0o600)]
        ready, tell = os.pipe()
        opened += [tell]
        # Above the numbers they are to get, so that none is overwritten.
        high = [fcntl.fcntl(f, fcntl.F_DUPFD, 64) if f >= 0 else -1 for f in opened]

        def place():
            os.setsid()
            for to, f in enumerate(high, 3):
                if f >= 0:
                    os.dup2(f, to)
                else:
                    try:
                        os.close(to)
                    except OSError:
                        pass

        args = [self.program] + (["--new-log", secrets.token_hex(16)] if new else [])
        self.process = subprocess.Popen(args + list(options), preexec_fn=place,
            pass_fds=[n for n, f in enumerate(high, 3) if f >= 0],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(self.path("stderr"), "ab"), env=env or {}, cwd="/", **self.who)
        for f in opened + high:
            if f >= 0:
                os.close(f)
        line = b""
        while not line.endswith(b"\n"):
            got = os.read(ready, 4096)
            if not got:
                break
            line += got
        os.close(ready)
        return line.decode()

    def wait(self):
        return self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait(60)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def driver(self, instance=None, options=(), **more):
        program = DRIVER
        if "user" in more:
            # That user may have no way to the build tree.
            os.chmod(self.dir, 0o711)
            program = shutil.copy(DRIVER, self.path("signer_driver"))
        return subprocess.Popen([program, self.socket, instance or secrets.token_hex(16), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)

    def say(self, *lines, instance=None, options=()):
        """A whole session: the answers, the channel closed after them."""
        d = self.driver(instance, options)
        out, _ = d.communicate("".join(l + "\n" for l in lines), 120)
        return out.splitlines()

    def bytes(self):
        with open(self.path("audit/log/000000.jsonl"), "rb") as f:
            return f.read()

    def records(self):
        import json
        return [json.loads(line)["stmt"]["predicate"] for line in self.bytes().splitlines()]

    def types(self):
        found = []
        for p in self.records():
            found.append(p["type"] + (":" + p["status"] if p["type"] == "outcome" else ""))
        return found

    def go(self, *more):
        """The checker that uses only Go's own packages."""
        r = subprocess.run([go_checker(), self.path("audit"), self.path("pin/log.vkey"), *more],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return r.returncode, r.stdout.strip()

    def verify(self, *more):
        """Our own verifier; None when it is not built."""
        if not os.path.exists(AUDITOR):
            return None, "bailiff-audit is not built"
        r = subprocess.run([AUDITOR, "verify", self.path("audit"), "--key",
            open(self.path("pin/log.vkey")).read().strip(), *more],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return r.returncode, r.stdout

    def good(self, what, code=0):
        """Both verifiers agree on the verdict."""
        g, text = self.go()
        check(g == code, "%s: Go says %d%s" % (what, g, "" if g == code else ": " + text))
        v, text = self.verify("--deep")
        if v is not None:
            check(v == code, "%s: bailiff-audit says %d%s" % (what, v, "" if v == code else ": " + text))

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


def go_checker():
    """Compiled once per build tree; the source is tests/audit/check.go."""
    source = os.path.join(SOURCE, "tests/audit/check.go")
    binary = os.path.join(BUILD, "tests/check-go")
    if not os.path.exists(binary) or os.path.getmtime(binary) < os.path.getmtime(source):
        env = dict(os.environ, GO111MODULE="off", GOPATH="/usr/share/gocode",
            GOCACHE=os.path.join(BUILD, "tests/go-cache"))
        subprocess.run(["go", "build", "-o", binary, source], env=env, check=True)
    return binary


def need_go():
    if shutil.which("go") is None or not os.path.isdir("/usr/share/gocode/src/golang.org/x/mod/sumdb"):
        print("skipped: golang-go and golang-golang-x-mod-dev are not installed")
        sys.exit(77)
