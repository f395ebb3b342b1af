"""What a program shows comes back as files: python (matplotlib, plotly) and R (base graphics, ggplot2).

Run as: python3 test_plots.py BUILD_DIR SOURCE_DIR [part of a name].

Programs are run as they are; what they showed is told from the result alone: names, types, sizes by the service, and the bytes of the files.  Cases
whose library is not on this host are skipped by name.
"""
import json
import os
import struct
import subprocess

from lib import Place, Skip, case, check, equal, main, need_programs, need_root, read

need_root()
need_programs("bailiff-supervisor", "bailiff-collect")

def need_module(name):
    there = subprocess.run(["/usr/bin/python3", "-c", "import " + name], capture_output=True, check=False)
    if there.returncode != 0:
        raise Skip("apt-get install python3-" + name)


def need_r(package="grDevices"):
    if not os.path.exists("/usr/bin/Rscript"):
        raise Skip("apt-get install r-base-core")
    folders = ("/usr/lib/R/library/", "/usr/lib/R/site-library/")
    if not any(os.path.isdir(folder + package) for folder in folders):
        raise Skip("apt-get install r-cran-" + package)


class Shown:
    """A run, and what the service says of the files it left."""

    def __init__(self, language, code, *words, p=None, quiet=True):
        self.place = p or Place()
        self.json = self.place.json("--lang", language, "--timeout", "60", *words, "-c", code).json
        check(self.json["decision"]["allow"], self.json)
        self.stdout, self.stderr = self.json["stdout"], self.json["stderr"]
        if quiet:
            equal((self.json["status"], self.stderr), ("ok", ""), "how it went")
        listed = json.loads(self.place.result("--json", self.json["run_id"]).out)["files"]
        self.files = {f["name"][6:]: f for f in listed if f["name"].startswith("files/")}
        text = json.loads(read(self.json["result_folder"] + "/result.json"))
        equal(sorted(f["name"] for f in text["files"]["list"]), sorted(self.files), "result.json")
        self.skipped = text["files"].get("skipped_names", [])

    def facts(self, **which):
        """(type, width, height) of the files, by their names."""
        return [(f["type"], f.get("width"), f.get("height")) for name, f in sorted(self.files.items())
                if all(f[k] == v for k, v in which.items())]

    def shown(self):
        return self.facts(plot=True)

    def data(self, name):
        return read(os.path.join(self.json["result_folder"], "files", name))


PNG = ("image/png", 640, 480)
PLT = "import matplotlib.pyplot as plt\n"


@case("each figure that is shown comes back once, in order, with its size")
def _():
    need_module("matplotlib")
    s = Shown("python", PLT + """
plt.figure(figsize=(4, 3)); plt.plot([1, 2])
plt.figure(figsize=(5, 3)); plt.plot([2, 1])
plt.show()
fig, ax = plt.subplots(2, 2, figsize=(6, 3)); ax[0, 1].bar([1, 2], [3, 4])
plt.show()
plt.show()
print(plt.get_fignums())
""")
    equal(s.stdout, "[]\n", "nothing but the program speaks")
    equal(s.shown(), [("image/png", 400, 300), ("image/png", 500, 300), ("image/png", 600, 300)])
    for name in s.files:
        data = s.data(name)
        equal((data[:8], data[-8:-4]), (b"\x89PNG\r\n\x1a\n", b"IEND"), name)
        equal(struct.unpack(">II", data[16:24])[1], 300, name)


@case("the program is run as it is: futures, line numbers, docstring, arguments, its own backend")
def _():
    need_module("matplotlib")
    s = Shown("python", '"""doc"""\nfrom __future__ import annotations\n' + PLT +
              "import sys\nprint(__doc__, sys.argv[0], sys._getframe().f_lineno)\nplt.plot([1]); plt.show()\nraise ValueError('x')\n", quiet=False)
    equal(s.stdout, "doc /sandbox/main.py 5\n")
    check('File "/sandbox/main.py", line 7' in s.stderr and s.stderr.count("\n") == 4, s.stderr)
    equal(s.shown(), [PNG], "what was shown before the fault")
    s = Shown("python", "import matplotlib\nmatplotlib.use('Agg')\n" + PLT + "plt.plot([1]); plt.savefig('a.png')\nprint(matplotlib.get_backend())\n")
    equal((s.stdout, s.facts()), ("agg\n", [PNG]))


@case("a figure that was saved is not shown a second time, unless it changed")
def _():
    need_module("matplotlib")
    s = Shown("python", PLT + """
plt.plot([1]); plt.savefig('once.png'); plt.show()
plt.plot([1]); plt.savefig('first.svg'); plt.title('more'); plt.show()
fig = plt.figure(); fig.gca().plot([1]); fig.savefig('bare'); fig.savefig('it.pdf'); plt.show()
""")
    equal(sorted(s.files), ["bare.png", "first.svg", "it.pdf", "once.png", "plots/0001.png"])
    equal([s.files[n]["type"] for n in ("first.svg", "it.pdf")], ["image/svg+xml", "application/pdf"])
    equal([(s.files[n]["width"], s.files[n]["height"]) for n in ("first.svg", "it.pdf")], [(615, 461), (461, 346)])


@case("what is saved where nothing is kept is kept all the same; buffers are the program's own")
def _():
    need_module("matplotlib")
    s = Shown("python", PLT + """
import io
plt.plot([1]); plt.savefig('/tmp/x.svg'); plt.savefig(io.BytesIO()); plt.close()
plt.plot([1]); plt.savefig(io.BytesIO(), format='png')
""")
    equal(sorted(s.files), ["plots/0001.svg"])


@case("interactive figures keep their number and come in their last state; animations are saved")
def _():
    need_module("matplotlib")
    s = Shown("python", PLT + """
import matplotlib.animation as animation
plt.ion()
fig, ax = plt.subplots()
for i in range(3):
    ax.plot([i, 2 * i]); plt.pause(0.001)
plt.close(fig)
plt.ioff()
fig, ax = plt.subplots(figsize=(3, 2)); line, = ax.plot([0, 1])
a = animation.FuncAnimation(fig, lambda i: line.set_data([0, 1], [0, i]), frames=3)
a.save('a.gif', writer='pillow')
plt.close()
plt.figure(figsize=(2, 2)).gca().plot([1]); plt.show(block=False); plt.title('later')
plt.ion(); plt.figure(figsize=(2, 1)).gca().plot([1])
""")
    equal(s.shown(), [PNG, ("image/png", 200, 200), ("image/png", 200, 100)])
    equal(s.files["a.gif"]["type"], "image/gif")
    equal((s.files["a.gif"]["width"], s.files["a.gif"]["height"]), (300, 200))


@case("figures of child processes have numbers of their own")
def _():
    need_module("matplotlib")
    s = Shown("python", PLT + """
import os
for i in range(3):
    if os.fork() == 0:
        plt.plot([i]); plt.show()
        os._exit(0)
for i in range(3):
    os.wait()
plt.plot([9]); plt.show()
""")
    equal(sorted(s.files), ["plots/%04d.png" % i for i in range(1, 5)])
    equal(s.shown(), [PNG] * 4)


@case("without processes and sockets of its own a program shows figures, too")
def _():
    need_module("matplotlib")
    p = Place(languages={"python": {"capabilities": {"subprocess": False, "exec_memory": False, "loopback": False}}})
    equal(Shown("python", PLT + "plt.plot([1]); plt.show()", p=p).shown(), [PNG])


@case("a run that shows nothing has nothing, whatever one before it showed")
def _():
    s = Shown("python", "import os; os.mkdir('plots'); open('plots/0001.png', 'w').write('x')")
    equal(sorted(s.files), ["plots/0001.png"])
    s = Shown("python", "import os; print(os.listdir('.'), os.path.exists('plots'))", p=s.place)
    equal((s.stdout, s.files), ("['main.py'] False\n", {}))


@case("a policy turns capture off, and one that keeps no files has none")
def _():
    tell = "import os; print(os.environ.get('MPLBACKEND'), os.environ.get('PYTHONPATH'))"
    equal(Shown("python", tell).stdout, "module://bailiff_plots /opt/bailiff/python\n")
    for over in ({"plots": {"default": 0, "max": 0}}, {"artifacts": {"default": 0, "max": 0}}):
        p = Place(limits=over)
        s = Shown("python", tell + "; os.mkdir('plots'); open('plots/a', 'w').write('x')", p=p)
        equal((s.stdout, s.shown()), ("None None\n", []), over)
        equal(sorted(s.files), ["plots/a"] if "plots" in over else [], over)


@case("figures have limits of their own, and other files cannot crowd them out")
def _():
    p = Place(limits={"plots": {"default": 3, "max": 3}, "plot_bytes": {"default": 1000, "max": 1000},
                      "artifacts": {"default": 2, "max": 2}, "artifact_depth": {"default": 1, "max": 1}})
    s = Shown("python", """
import os
os.mkdir('plots')
for i in range(5):
    open('plots/%d' % i, 'w').write('x'); open('a%d' % i, 'w').write('y')
""", p=p)
    equal(sorted(s.files), ["a0", "a1", "plots/0", "plots/1", "plots/2"])
    equal(sorted((x["name"], x["why"]) for x in s.skipped), [("a2", "artifacts"), ("a3", "artifacts"), ("a4", "artifacts"), ("plots/3", "plots"), ("plots/4", "plots")])
    s = Shown("python", "import os; os.mkdir('plots'); open('plots/big', 'w').write('x' * 1001); open('plots/fits', 'w').write('x' * 1000)", p=p)
    equal([(x["name"], x["why"]) for x in s.skipped], [("plots/big", "plot_bytes")])
    record = p.records()[-1]
    check("limit.plot_bytes.reached" in json.dumps(record), record)


@case("what lies among the figures is told by its content, never by its name, and never followed")
def _():
    s = Shown("python", r"""
import os
os.mkdir('plots')
def put(name, data): open('plots/' + name, 'wb').write(data)
put('0001.png', b'<script>alert(1)</script>')
put('0002.png', b'\x89PNG\r\n\x1a\nfake')
put('0003.png', b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR' + b'\xff' * 8)
put('a.txt', b'\xff\xd8\xff\xe0' + b'\xff\xe0\0\2' * 20000)
put('b.svg', b'<!-- ' + b'x' * 100000)
put('c.html', b'\0' * 10)
put('d', b'%PDF-1.4 /MediaBox [' + b'9' * 70000)
os.symlink('/etc/passwd', 'plots/link.png')
os.mkfifo('plots/fifo.png')
os.mkdir('plots/in'); put('in/x\n.csv', b'a,b\n')
""")
    equal({n: (f["type"], f.get("width")) for n, f in s.files.items()}, {
        "plots/0001.png": ("text/plain", None), "plots/0002.png": ("image/png", None), "plots/0003.png": ("image/png", 0xffffffff),
        "plots/a.txt": ("image/jpeg", None), "plots/b.svg": ("text/plain", None), "plots/c.html": ("application/octet-stream", None),
        "plots/d": ("application/pdf", None), "plots/in/x%0A.csv": ("text/csv", None)})
    equal(sorted((x["name"], x["why"]) for x in s.skipped), [("plots/fifo.png", "special"), ("plots/link.png", "link")])


@case("the backends are read-only, the same for every run, and in the digest of the view")
def _():
    s = Shown("python", r"""
import os, hashlib
top = '/opt/bailiff/python'
for name in sorted(os.listdir(top)):
    print(name, hashlib.sha256(open(os.path.join(top, name), 'rb').read()).hexdigest())
for name in (top + '/bailiff_plots.py', top + '/new', '/opt/new'):
    try: open(name, 'a'); print('written', name)
    except OSError as e: print(e.errno)
""")
    lines = s.stdout.splitlines()
    equal([line.split()[0] for line in lines[:3]], ["bailiff_plots.py", "bailiff_shown.py", "webbrowser.py"])
    check(all(line in ("13", "30") for line in lines[3:]), lines)
    digest = {r["sandbox"]["view"] for r in s.place.records() if "sandbox" in r}
    equal(len(digest), 1, "views")


@case("a page that a program opens in a browser is kept, an address elsewhere is not opened")
def _():
    s = Shown("python", r"""
import http.server, threading, webbrowser, inspect
open('/tmp/p.html', 'w').write('<!doctype html><p>file')
print(webbrowser.open('file:///tmp/p.html'), webbrowser.open('https://example.org/'), inspect.getsourcefile(webbrowser.get))
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'<html><p>served')
    def log_message(self, *a): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Page)
print(webbrowser.get().open('http://127.0.0.1:%d' % server.server_port))
server.handle_request()
""")
    equal(s.stdout.split()[:2] + s.stdout.split()[3:], ["True", "False", "True"])
    check("/usr/lib/python3" in s.stdout, s.stdout)
    equal(s.shown(), [("text/html", None, None)] * 2)
    equal({s.data(n) for n in s.files}, {b"<!doctype html><p>file", b"<html><p>served"})


@case("plotly figures are kept when they are shown and when they are saved")
def _():
    need_module("plotly")
    s = Shown("python", """
import plotly.graph_objects as go
fig = go.Figure(data=go.Bar(y=[2, 3, 1]))
fig.show()
fig.write_html('w.html', include_plotlyjs='cdn')
""")
    equal((s.stdout, sorted(s.files)), ("", ["plots/0001.html", "w.html"]))
    equal(s.facts(), [("text/html", None, None)] * 2)


@case("pandas draws through the same backend")
def _():
    need_module("matplotlib")
    need_module("pandas")
    s = Shown("python", PLT + "import pandas as pd\npd.DataFrame({'a': [1, 2, 3]}).plot(figsize=(3, 3)); plt.show()\n")
    equal(s.shown(), [("image/png", 300, 300)])


@case("R: each page of the default device is an image, in order; devices of its own are left alone")
def _():
    need_r()
    s = Shown("r", """
plot(1:3); hist(c(1, 2, 2))
png("own.png", width = 300, height = 200); plot(1); invisible(dev.off())
barplot(1:3)
invisible(dev.off())
plot(9)
pdf("many.pdf"); plot(1); plot(2); invisible(dev.off())
cat("done\\n")
""")
    equal(s.stdout, "done\n")
    equal(sorted(s.files), ["many.pdf", "own.png"] + ["plots/0001-0%d.png" % i for i in (1, 2, 3)] + ["plots/0002-01.png"])
    equal(s.shown(), [("image/png", 800, 600)] * 4)
    equal([s.files[n]["type"] for n in ("many.pdf", "own.png")], ["application/pdf", "image/png"])
    equal(s.data("many.pdf").count(b"/Type /Page "), 2, "pages")


@case("R: a run that fails keeps what it drew, one that draws nothing has nothing")
def _():
    need_r()
    s = Shown("r", 'plot(1)\nstop("after")\n', quiet=False)
    equal((s.json["exit_code"], s.stderr), (1, "Error: after\nExecution halted\n"))
    equal(s.shown(), [("image/png", 800, 600)])
    s = Shown("r", 'x <- dev.cur(); cat("none\\n")', p=s.place)
    equal((s.stdout, s.files), ("none\n", {}))


@case("R: ggplot2 at top level, in a loop and saved")
def _():
    need_r("ggplot2")
    s = Shown("r", """
library(ggplot2)
p <- ggplot(data.frame(x = 1:3, y = 3:1), aes(x, y)) + geom_line()
for (i in 1:2) print(p)
p
ggsave("g.png", p, width = 4, height = 3, dpi = 100)
ggsave("g.pdf", p, width = 4, height = 3)
""")
    equal(s.shown(), [("image/png", 800, 600)] * 3)
    equal((s.files["g.png"]["width"], s.files["g.pdf"]["width"]), (400, 288))


@case("a policy's patterns say which other files are kept")
def _():
    code = """
import os
for d in ('plots', 'out/deep', 'other'):
    os.makedirs(d)
for name in ('a.csv', 'a.txt', 'out/x', 'out/deep/y', 'other/b.csv', 'other/z', 'plots/0001.png'):
    open(name, 'w').write('x')
"""
    p = Place(artifacts=["**/*.csv", "out/**"])
    s = Shown("python", code, p=p)
    equal(sorted(s.files), ["a.csv", "other/b.csv", "out/deep/y", "out/x", "plots/0001.png"])
    equal(sorted((x["name"], x["why"]) for x in s.skipped), [("a.txt", "pattern"), ("other/z", "pattern")])
    s = Shown("python", code, p=Place(artifacts=[]))
    equal((sorted(s.files), len(s.skipped)), (["plots/0001.png"], 6))


@case("--out brings figures along with the other files")
def _():
    p = Place()
    out = p.path("out")
    p.python("import os; os.mkdir('plots'); open('plots/0001.png', 'w').write('x'); open('a', 'w').write('y')", "--out", out)
    equal((read(out + "/plots/0001.png"), read(out + "/a")), (b"x", b"y"))


main()
