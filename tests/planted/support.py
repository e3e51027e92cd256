"""What the tests here share: the generated cases, made once a run, and what the program says."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
SHARED = os.environ.get("TRACEGLASS_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
BINARY = os.environ.get("TRACEGLASS_BIN", os.path.join(ROOT, "build", "dev", "traceglass"))
FIRES = ("high", "medium", "low")

sys.path += [FOLDER, os.path.join(ROOT, "tests", "contract")]
import generate  # noqa: E402
import plants  # noqa: E402


@functools.cache
def logdir():
    """Every case, below one folder."""
    folder = tempfile.TemporaryDirectory(prefix="planted")
    atexit.register(folder.cleanup)
    for case in plants.CASES.values():
        generate.write_case(case, folder.name)
    return folder.name


def truth(case):
    with open(os.path.join(logdir(), case.name, "truth.txt"), encoding="utf-8") as file:
        return json.load(file)


def summary(*paths):
    done = subprocess.run(
        [BINARY, "summary", "--format", "json", *paths],
        capture_output=True,
        text=True,
        timeout=300,
    )
    return json.loads(done.stdout)


@functools.cache
def summaries():
    """{run: [trace of the document, by rank]} of all cases."""
    runs = {}
    for trace in summary(logdir())["traces"]:
        runs.setdefault(trace["run"], []).append(trace)
    return runs


def mean_step_ns(trace):
    steps = [step["extended"] for step in trace["steps"]]
    return sum(step["end_ns"] - step["start_ns"] for step in steps) / len(steps)
