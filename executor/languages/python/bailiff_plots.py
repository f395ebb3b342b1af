"""Bailiff's backend for matplotlib: what a program shows becomes a file in /sandbox/plots.

Named by MPLBACKEND and found through PYTHONPATH, so that nothing of a program is edited and nothing is loaded that it does not ask for.  It runs
with the program's rights and is believed no more than the program: what it writes is looked at by content like any other file.

A figure is written when it is shown, as an image of its own size, under the next free number.  One that stays open (interactive mode, pause,
show(block=False)) keeps its number and is written again when it has changed.  One that was saved to a file of /sandbox and has not changed since is
there already; one saved elsewhere is copied.  After a show() that would have waited for a person the figures are closed, as that person would have.
"""
import atexit
import io
import os

import matplotlib
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase, _Backend
from matplotlib.backends.backend_agg import FigureCanvasAgg

import bailiff_shown


class FigureCanvas(FigureCanvasAgg):
    def draw_idle(self, *args, **kwargs):
        """Nobody looks between two shows."""

    def print_figure(self, filename, *args, **kwargs):
        was_stale = self.figure.stale
        result = super().print_figure(filename, *args, **kwargs)
        is_path = isinstance(filename, (str, os.PathLike))
        if is_path and self.manager is not None:
            name = os.fspath(filename)
            if not os.path.splitext(name)[1]:
                name = "%s.%s" % (name.rstrip("."), kwargs.get("format") or self.get_default_filetype())
            bailiff_shown.copy(name)
        # Saving sets colours and sets them back, which counts as a change.
        if is_path or not was_stale:
            self.figure.stale = False
        return result


class FigureManager(FigureManagerBase):
    shown_as = None  # the file that it was written to

    def keep(self):
        """Written, if that would be news."""
        if not self.canvas.figure.stale:
            return
        data = self.render()
        # What a first draw has started (an animation) is in the second.
        if self.canvas.figure.stale:
            data = self.render()
        self.canvas.figure.stale = False
        self.shown_as = bailiff_shown.write(data, "png", self.shown_as)

    def render(self):
        out = io.BytesIO()
        self.canvas.print_png(out)
        return out.getvalue()

    def show(self):
        self.keep()

    def keep_if_seen(self):
        """Its last state, of a figure that somebody would have before him."""
        if self.shown_as is not None or matplotlib.is_interactive():
            self.keep()

    def destroy(self, *args):
        self.keep_if_seen()


FigureCanvas.manager_class = FigureManager


@_Backend.export
class _BackendBailiff(_Backend):
    FigureCanvas = FigureCanvas
    FigureManager = FigureManager

    @staticmethod
    def show(*args, block=None, **kwargs):
        for manager in sorted(Gcf.get_all_fig_managers(), key=lambda m: m.num):
            manager.keep()
        if args:
            block = args[0]
        if block or (block is None and not matplotlib.is_interactive()):
            Gcf.destroy_all()


def _keep_open():
    for manager in sorted(Gcf.get_all_fig_managers(), key=lambda m: m.num):
        manager.keep_if_seen()


# After matplotlib's own, so before it: that one closes the figures.
atexit.register(_keep_open)
