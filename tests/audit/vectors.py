"""The golden, negative and control vectors of the log format, as file sets.

A vector names what it changes in the golden files: 'parts' are slices [from, to] of the golden file of that name,
'put' (base64), or a 'byte' many 'times'; null is an absent file, 'link' a symbolic link.
"""
import base64
import hashlib
import json
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__)) + "/vectors"


def golden():
    """Name -> bytes of every golden file."""
    out = {}
    for here, _, names in os.walk(HERE):
        for name in names:
            path = os.path.join(here, name)
            with open(path, "rb") as f:
                out[os.path.relpath(path, HERE)] = f.read()
    return out


def load(name):
    with open(f"{HERE}/{name}", encoding="ascii") as f:
        return [json.loads(line) for line in f]


def build(spec, old):
    out = []
    for part in spec["parts"]:
        if isinstance(part, list):
            out.append(old[part[0]:part[1]])
        elif "put" in part:
            out.append(base64.b64decode(part["put"], validate=True))
        else:
            out.append(bytes([part["byte"]]) * part["times"])
    data = b"".join(out)
    assert len(data) == spec["size"] and hashlib.sha256(data).hexdigest() == spec["sha256"], "vector does not build"
    return data


def apply(vector, files):
    """The golden files with the changes of one vector: None absent, a str a link."""
    out = dict(files)
    for name, spec in vector["files"].items():
        if spec is None:
            out[name] = None
        elif "link" in spec:
            out[name] = spec["link"]
        else:
            out[name] = build(spec, files.get(name, b""))
    return out


def write(files, to):
    """Lay a file set out as the product does: to/log/000000.jsonl, to/checkpoint, to/results."""
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(f"{to}/log")
    for name, data in files.items():
        if data is None:
            continue
        path = f"{to}/log/000000.jsonl" if name == "log.jsonl" else f"{to}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(data, str):
            os.symlink(data, path)
        else:
            with open(path, "wb") as f:
                f.write(data)
    os.makedirs(f"{to}/results", exist_ok=True)
