"""What a program shows, written to /sandbox/plots under numbers: for the modules of this folder.  It has the program's rights and no others."""
import itertools
import os

PLACE = "/sandbox/plots"
COLLECTED = "/sandbox/"


def write(data, extension, name=None):
    """A file of its own, or `name` anew: whole or not there, so that a program killed meanwhile leaves no half image.  Returns its name."""
    os.makedirs(PLACE, exist_ok=True)
    part = os.path.join(PLACE, ".%d.part" % os.getpid())
    with open(part, "wb") as f:
        f.write(data)
    if name is not None:
        os.replace(part, name)
        return name
    try:
        return _link(part, extension)
    finally:
        os.unlink(part)


def _link(part, extension):
    """Under the next free number: others may write at the same time."""
    for number in itertools.count(1):
        name = os.path.join(PLACE, "%04d.%s" % (number, extension))
        if _is_free(number):
            try:
                os.link(part, name)
                return name
            except FileExistsError:
                pass


def _is_free(number):
    return not any(one.startswith("%04d." % number) for one in os.listdir(PLACE))


def copy(name):
    """A file that was saved where nothing is kept."""
    name = os.path.realpath(name)
    if name.startswith(COLLECTED) or not os.path.isfile(name):
        return
    with open(name, "rb") as f:
        write(f.read(), os.path.splitext(name)[1].lstrip(".") or "bin")
