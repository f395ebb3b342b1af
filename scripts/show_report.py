"""Print one report of `bailiff run --json` for a person: scripts/quickstart."""
import glob
import json
import os
import sys


def place_in_log(folder, run_id):
    """FILE:LINE of the last record that names the run."""
    log = os.path.join(folder, "log")
    for path in sorted(glob.glob(log + "/*.jsonl"), reverse=True):
        with open(path, encoding="utf-8") as f:
            lines = [n for n, line in enumerate(f, 1) if run_id in line]
        if lines:
            return f"{path}:{lines[-1]}"
    return "not found in " + log


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        report = json.load(f)
    sys.stdout.write(report["stdout"] or "")
    sys.stdout.write(report["stderr"] or "")
    decision = report["decision"]
    print()
    print("decision      ", "allowed by" if decision["allow"] else "denied by", ", ".join(decision["rules"]))
    print("status        ", report["status"], "with exit code", report["exit_code"])
    print("result folder ", report["result_folder"])
    print("log line      ", place_in_log(report["log"], report["run_id"]),
          f"(record {report['audit']['seq']})")
    return 0 if report["status"] == "ok" else 1


sys.exit(main())
