"""bailiff-tracer sees what a program does, counts exactly, and says what it lost.

Run as: python3 test_tracer.py BUILD_DIR SOURCE_DIR [PART OF A NAME].
"""
import os
import re
import signal
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import (BUILD, FAILED, Group, Lost, READY, RUN, Trace, Tracer, TRACER, WATCHING, read_back, start,  # noqa: E402
                     trace)
import tempfile  # noqa: E402

CASES = []


def case(function):
    CASES.append(function)
    return function


def equal(got, want, what):
    if got != want:
        raise AssertionError("%s: got %r, want %r" % (what, got, want))


def whole(t, code=0):
    equal(t.code, code, "end of the program")
    equal((t.answer["complete"], t.answer["note"]), (1, ""), "completeness")
    equal([e["seq"] for e in sorted(t.events, key=lambda e: e["seq"])], list(range(len(t.events))), "numbers")
    b = t.books["books"]
    equal(b["enter"], b["back"] + b["unfinished"], "calls")
    return t


@case
def the_file_says_what_it_is(tracer):
    t = whole(trace(tracer, "calls"))
    h = t.header
    equal((h["type"], h["v"], h["run"], h["tier"]), ("header", 1, RUN, "bpf"), "header")
    equal(h["kernel"], os.uname().release, "kernel")
    equal(re.fullmatch("[0-9a-f]{64}", h["object"]) is not None, True, "digest of the object")


@case
def the_first_exec_is_there_with_the_kernels_path_and_argv(tracer):
    t = whole(trace(tracer, "calls"))
    first = t.of("exec")[0]
    path = os.path.realpath(os.path.join(BUILD, "tests/traced"))
    equal((first["seq"], first["truth"]), (0, path), "first event")
    equal([a["a"] for a in first["argv"]][1:], ["calls"], "argv")


@case
def each_call_is_counted_once_at_both_ends(tracer):
    c = whole(trace(tracer, "calls")).calls("getppid")
    equal((c["enter"], c["ok"], c["error"], c["denied"]), (1000, 1000, 0, 0), "getppid")


@case
def what_the_filter_denies_is_told_from_what_the_kernel_denies(tracer):
    t = whole(trace(tracer, "denied"))
    denied = t.of("denied", call="getsid")
    equal([(d["error"], d["ret"], d["args"][:3]) for d in denied], [("EPERM", -1, ["0x7", "0x8", "0x9"])] * 3, "denials")
    equal((t.calls("getsid")["denied"], t.calls("getsid")["enter"]), (3, 0), "getsid")
    equal([e["error"] for e in t.of("call", call="setsid") if "error" in e], ["EPERM"], "the kernel's")
    equal((t.calls("setsid")["enter"], t.calls("setsid")["denied"]), (2, 0), "setsid")


@case
def all_denials_are_counted_the_first_of_each_call_told(tracer):
    t = whole(trace(tracer, "repeat"))
    equal((t.calls("getsid")["denied"], len(t.of("denied")), t.books["books"]["repeats"]), (200, 64, 136), "denials")
    equal(t.errors("getsid"), {"EACCES": 200}, "errors")


@case
def a_killing_filter_is_told_with_the_call(tracer):
    t = whole(trace(tracer, "killed"), 128 + signal.SIGSYS)
    equal([(k["call"], k["signal"]) for k in t.of("killed")], [("getsid", signal.SIGSYS)], "killed")
    t = whole(trace(tracer, "killed-thread"))
    equal([k["call"] for k in t.of("killed")], ["getsid"], "killed thread")
    t = whole(trace(tracer, "trapped"))
    equal(len(t.of("denied", call="getsid")), 1, "trap")


@case
def threads_and_processes_belong_to_the_run(tracer):
    t = whole(trace(tracer, "threads"))
    equal((t.calls("getppid")["ok"], len(t.of("fork")), len(t.of("exit"))), (2000, 8, 9), "threads")
    t = whole(trace(tracer, "processes"))
    equal((len(t.of("fork")), len(t.of("exit")), len(t.of("exec"))), (20, 21, 11), "processes")
    equal(sorted(e["code"] for e in t.of("exit"))[-1], 18, "their codes")


@case
def a_failed_exec_and_an_exec_with_hostile_words(tracer):
    t = whole(trace(tracer, "exec"))
    equal([(c["given"], c.get("error")) for c in t.of("call", call="execve")],
          [("/no/such/program", "ENOENT"), ("/bin/true", None)], "execve")
    equal(t.of("exec")[1]["argv"], [{"a": "a b"}, {"a_hex": "ff010a"}, {"a": "quote\"\\"}], "argv")
    equal(t.of("exec")[1]["truth"], os.path.realpath("/bin/true"), "the kernel's path")
    t = whole(trace(tracer, "exec-thread"))
    equal(len(t.of("exec")), 2, "exec from a thread")
    t = whole(trace(tracer, "long-argv"))
    last = t.of("exec")[-1]
    equal((last["argv_cut"], last["argv_size"] > 2000000), (True, True), "long argv")


@case
def an_open_has_the_string_and_the_kernels_path(tracer):
    t = whole(trace(tracer, "open"))
    links = [c for c in t.of("call", call="openat") if c.get("truth") == "/etc/passwd"]
    equal((len(links), links[0]["differs"], links[0]["given"].startswith("/tmp/")), (1, True, True), "through a link")
    near = [c for c in t.of("call", call="openat") if c.get("given") == "group"]
    equal([(c["truth"], c.get("differs")) for c in near], [("/etc/group", None)], "relative")
    bad = [c for c in t.of("call", call="openat") if "given_hex" in c]
    equal([(bytes.fromhex(c["given_hex"]), c["error"]) for c in bad],
          [(b"/no/such/\xc3\xa9\xff\n", "ENOENT")], "hostile bytes")


@case
def a_path_that_changes_under_way_is_marked(tracer):
    t = whole(trace(tracer, "flip"))
    paths = {"/etc/passwd", "/etc/group"}
    opened = [c for c in t.of("call", call="openat") if c.get("truth") in paths and c["ret"] >= 0]
    lied = [c for c in opened if c.get("given") != c["truth"]]
    equal(all(c.get("differs") for c in lied), True, "marks")
    equal([c for c in opened if c.get("given") == c["truth"] and c.get("differs")], [], "needless marks")
    print("       %d of %d claims were not what was opened" % (len(lied), len(opened)))


@case
def a_path_in_a_page_that_is_not_there_is_read_later(tracer):
    t = whole(trace(tracer, "untouched"))
    equal([c["given"] for c in t.of("call", call="openat") if c.get("given_late")], ["/etc/passwd"], "late string")


@case
def connect_and_bind_have_the_kernels_address(tracer):
    with open("/sys/class/net/lo/flags") as f:
        if int(f.read(), 16) & 1 == 0:
            print("       not tried: lo is down on this host")
            return
    t = whole(trace(tracer, "sockets"))
    bound = t.of("call", call="bind")[0]
    equal((bound["given"], bound["truth"].startswith("inet 127.0.0.1:"), bound["truth"] != bound["given"]),
          ("inet 127.0.0.1:0", True, True), "bind")
    equal([c["truth"] for c in t.of("call", call="connect")], ["inet6 [::1]:9", bound["truth"]], "connect")


@case
def signals_and_code_in_memory(tracer):
    t = whole(trace(tracer, "signals"))
    equal([s["signal"] for s in t.of("signal")], [signal.SIGUSR1], "signals")
    t = whole(trace(tracer, "code"))
    equal(len(t.of("call", call="mprotect")), 1, "mprotect with PROT_EXEC")


@case
def restarted_and_unfinished_calls_are_accounted_for(tracer):
    t = whole(trace(tracer, "restart"))
    equal(t.books["books"]["restarts"] >= 1, True, "restarts")
    t = whole(trace(tracer, "unfinished"))
    equal(sorted(e.get("signal", -1) for e in t.of("exit")), [-1, signal.SIGKILL], "ends")


@case
def numbers_that_are_none_are_counted_and_fool_nobody(tracer):
    t = whole(trace(tracer, "numbers"))
    equal(t.calls("getppid")["enter"], 1, "high bits")
    above = [c for c in t.books["calls"] if c.get("and_above")]
    equal((len(above), above[0]["enter"], above[0]["error"]), (1, 3, 3), "other numbers")
    t = trace(tracer, "foreign")
    if t.code == 0:
        foreign = [c for c in t.books["calls"] if c["plane"] == "foreign"]
        if t.calls("getpid")["enter"] == 0:
            equal([(c["nr"], c["enter"], "call" in c) for c in foreign], [(20, 1, False)], "int 0x80")
    else:
        print("       int 0x80 does not reach this kernel: signal %d" % (t.code - 128))


@case
def names_of_programs_cannot_write_lines(tracer):
    t = whole(trace(tracer, "comm"))
    equal(len([e for e in t.events if e["type"] not in ("exec", "call", "exit")]), 0, "forged lines")


@case
def ten_thousand_opens_a_second_are_all_there(tracer):
    began = time.monotonic()
    t = whole(trace(tracer, "flood"))
    opens = [c for c in t.of("call", call="openat") if c.get("given") == "/etc/group"]
    equal(len(opens), 20000, "opens")
    print("       %d opens a second" % (20000 / (time.monotonic() - began)))


@case
def a_storm_of_processes_is_all_there(tracer):
    t = whole(trace(tracer, "storm"))
    equal((len(t.of("fork")), len(t.of("exit"))), (2000, 2001), "processes")


@case
def several_runs_do_not_mix(tracer):
    groups, files, runs, children = [], [], [], []
    try:
        for action in ("calls", "threads", "calls"):
            group = Group()
            groups.append(group)
            files.append(tempfile.TemporaryFile())
            children.append(start(group, action))
            run, answer = tracer.watch(group.id, files[-1].fileno())
            equal(answer[0], WATCHING, "WATCH")
            runs.append(run)
        for child in children:
            child.stdin.write(b"g")
            child.stdin.flush()
        for child in children:
            equal(child.wait(60), 0, "end")
        counts = []
        for group, file, run in zip(groups, files, runs):
            group.wait_empty()
            answer = tracer.finish(run)
            counts.append(Trace(answer, read_back(answer, file), 0).calls("getppid")["ok"])
        equal(counts, [1000, 2000, 1000], "calls of each")
    finally:
        for child in children:
            child.stdin.close()
            child.stdout.close()
        for group in groups:
            group.close()
        for file in files:
            file.close()


@case
def what_does_not_fit_is_counted_exactly(tracer):
    del tracer
    small = Tracer(slots=2, ring=4096)
    try:
        equal(small.ready[0], READY, "start")

        def stop(group, child):
            del group, child
            os.kill(small.process.pid, signal.SIGSTOP)

        def stopped(group, child):
            stop(group, child)
            child.wait(120)
            os.kill(small.process.pid, signal.SIGCONT)
        t = trace(small, "flood", stopped)
        b = t.books["books"]
        equal(t.answer["complete"], 0, "completeness")
        equal("did not fit" in t.answer["note"], True, "note")
        equal((b["emitted"] + b["lost"], b["received"], t.answer["lost"]), (b["seq"], b["emitted"], b["lost"]), "books")
        equal((t.calls("openat")["ok"] >= 20000, b["lost"] > 19000), (True, True), "counters")
        print("       %d events, %d lost, %d opens counted" % (b["received"], b["lost"], t.calls("openat")["ok"]))
        # The next run of the same slot is whole again.
        whole(trace(small, "calls"))
    finally:
        small.close()


@case
def more_kinds_of_errors_than_it_keeps_are_said(tracer):
    t = trace(tracer, "errors")
    kept = [e for e in t.books["errors"] if e.get("call") == "getsid"]
    equal(len(kept) > 1000, True, "kinds that are kept")
    equal([e["errno"] for e in t.books["errors"]], [e["errno"] for e in sorted(
        t.books["errors"], key=lambda e: (e["plane"] == "program", e["nr"], e["errno"]))], "their order")
    equal((t.answer["complete"], t.books["books"]["unkept"] > 400), (0, True), "completeness")
    equal((t.calls("getsid")["denied"], "not told apart" in t.answer["note"]), (1500, True), "count")
    whole(trace(tracer, "calls"))


@case
def a_packed_file_holds_the_same_lines(tracer):
    plain, packed = (whole(trace(tracer, "storm", packed=p)) for p in (0, 1))
    equal(packed.answer["stored_bytes"] * 4 < packed.answer["bytes"], True, "size: %r" % packed.answer)
    equal(plain.answer["stored_bytes"], plain.answer["bytes"], "size of a plain one")
    equal((len(packed.events), [e["type"] for e in packed.events if e["type"] != "call"]),
          (len(plain.events), [e["type"] for e in plain.events if e["type"] != "call"]), "events")
    # The slot's packer begins anew with each file.
    whole(trace(tracer, "calls", packed=1))
    whole(trace(tracer, "calls", packed=0))


@case
def a_full_disk_is_said_not_hidden(tracer):
    for packed in (0, 1):
        full_disk(tracer, packed)


def full_disk(tracer, packed):
    group = Group()
    try:
        child = start(group, "calls")
        with open("/dev/full", "w") as full:
            run, answer = tracer.watch(group.id, full.fileno(), packed=packed)
        equal(answer[0], WATCHING, "WATCH")
        child.stdin.write(b"g")
        child.stdin.flush()
        equal(child.wait(60), 0, "end")
        child.stdin.close()
        child.stdout.close()
        group.wait_empty()
        answer = tracer.finish(run)
        equal((answer[0], answer[2]), (FAILED, 28), "FINISH")
    finally:
        group.close()
    whole(trace(tracer, "calls"))


@case
def there_are_as_many_slots_as_asked_for(tracer):
    group, file = Group(), tempfile.TemporaryFile()
    runs = []
    try:
        for _ in range(4):
            run, answer = tracer.watch(group.id + len(runs) * 10**9, file.fileno())
            equal(answer[0], WATCHING, "WATCH")
            runs.append(run)
        _, answer = tracer.watch(1, file.fileno())
        equal((answer[0], "slot" in answer[3]), (FAILED, True), "one too many")
        _, answer = tracer.watch(1, file.fileno(), "r_\"}")
        equal(answer[0], FAILED, "a name that is none")
    finally:
        for run in runs:
            tracer.finish(run)
        group.close()
        file.close()


@case
def it_holds_no_privilege_and_has_a_filter(tracer):
    with open("/proc/%d/status" % tracer.process.pid) as f:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    equal({status[k] for k in ("CapInh", "CapPrm", "CapEff", "CapAmb")}, {"0" * 16}, "capabilities")
    equal((status["NoNewPrivs"], status["Seccomp"], status["Uid"].split()), ("1", "2", ["1900000005"] * 4), "status")


@case
def a_tracer_without_privileges_says_why(tracer):
    del tracer
    import subprocess
    import socket
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def lesser():
        os.dup2(theirs.fileno(), 3)
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    fd = os.open(TRACER, os.O_PATH)
    child = subprocess.Popen(["bailiff-tracer", "1", "4096"], executable="/proc/self/fd/%d" % fd, preexec_fn=lesser,
                             pass_fds=[3, fd], env={})
    theirs.close()
    ours.settimeout(30)
    answer = ours.recv(4096)
    equal((answer[0], b"not permitted" in answer), (FAILED, True), "answer")
    child.wait(20)
    ours.close()
    os.close(fd)


@case
def what_breaks_the_protocol_ends_it(tracer):
    del tracer
    other = Tracer()
    other.say(b"\x09\x00")
    try:
        other.hear()
        raise AssertionError("it answered nonsense")
    except Lost:
        pass
    other.close()


def main():
    if os.geteuid() != 0:
        print("skipped: tracing takes root, this is uid %d" % os.geteuid())
        return 77
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        print("skipped: this kernel has no BTF (/sys/kernel/btf/vmlinux)")
        return 77
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    tracer, bad = Tracer(), 0
    if tracer.ready[0] != READY:
        print("FAIL the tracer starts: %r" % (tracer.ready,))
        return 1
    print("       loaded in %.0f ms" % (tracer.ready[1] / 1000))
    for function in CASES:
        name = function.__name__.replace("_", " ")
        if wanted not in name:
            continue
        began, word = time.monotonic(), "ok  "
        try:
            function(tracer)
        except Exception:  # noqa: BLE001 - a broken case is a failed case
            word, bad = "FAIL", bad + 1
            traceback.print_exc(file=sys.stdout)
        print("%s %5.2f s  %s" % (word, time.monotonic() - began, name), flush=True)
    tracer.close()
    return 1 if bad else 0


sys.exit(main())
