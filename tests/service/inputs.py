"""The inputs of a run, as an auditor reads them."""

import hashlib
import json
import os

from lib import equal


def digest(data):
    return hashlib.sha256(data).hexdigest()


def result_of(place, run_id):
    path = os.path.join(place.state, "results", run_id, "result.json")
    with open(path) as f:
        return json.load(f)


def listed(inputs):
    """The text whose digest is inputs.sha256, from result.json alone."""
    lines = ["%s  %s\n" % (i["sha256"], i["name"]) if "sha256" in i else
             "directory %s %s  %s\n" % (i["dev"], i["ino"], i["name"])
             for i in sorted(inputs, key=lambda i: i["name"])]
    return "".join(lines).encode()


def recorded(place, run_id):
    """inputs[] of result.json, after comparing it with the intent."""
    inputs = result_of(place, run_id)["inputs"]
    intent = [r for r in place.records()
              if r["type"] == "intent" and r["req"] == run_id][0]
    equal(intent["inputs"], {"count": len(inputs),
                             "sha256": digest(listed(inputs))}, "inputs")
    return inputs


def device(st):
    return "%d:%d" % (os.major(st.st_dev), os.minor(st.st_dev))
