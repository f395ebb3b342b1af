"""Python's own webbrowser, and one browser more: it keeps the page that it is to open.

In front of the standard module on the interpreter's path; loads that one, which then is this module.  Plotly, bokeh and others show a figure by
opening a page of their own, from a file or from a server inside the program.  Such a page becomes a file in /sandbox/plots; any other address is
answered as where there is no browser: it was not opened.
"""
import importlib.machinery
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.machinery.PathFinder.find_spec(__name__, [p for p in sys.path if os.path.abspath(p) != _here])
if _spec is None:
    raise ModuleNotFoundError("No module named %r" % __name__, name=__name__)
__spec__, __file__, __cached__ = _spec, _spec.origin, _spec.cached
_spec.loader.exec_module(sys.modules[__name__])


def _keeper():
    import threading
    import urllib.parse
    import urllib.request

    import bailiff_shown

    local = ("127.0.0.1", "localhost", "::1")
    patience_s = 10

    def fetch(url):
        # Whoever shows it serves it once we have returned.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=patience_s) as page:
            bailiff_shown.write(page.read(), "html")

    class Keeper(BaseBrowser):
        def open(self, url, new=0, autoraise=True):
            sys.audit("webbrowser.open", url)
            parts = urllib.parse.urlsplit(url)
            if parts.scheme in ("file", "") and os.path.isfile(urllib.request.url2pathname(parts.path)):
                bailiff_shown.copy(urllib.request.url2pathname(parts.path))
                return True
            if parts.scheme == "http" and parts.hostname in local:
                threading.Thread(target=fetch, args=(url,)).start()
                return True
            return False

    return Keeper("bailiff")


register("bailiff", None, _keeper(), preferred=True)
