"""Runs hand-computed cases: DIR/<case>/ is a log directory with an expect.json beside its traces.

Each entry of expect.json is {"say": …, "key": …, "value": …}; what a key reads is decided by the
table at the end of this file, from the summary document and the API of a real server. A new case
needs no new code. Usage: TRACEGLASS_BIN=… run_cases.py DIR
"""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

BINARY = os.environ.get("TRACEGLASS_BIN", "traceglass")
NS = 1000


def strict_json(text):
    """Parses JSON; inf and nan are errors."""

    def refuse(constant):
        raise ValueError(f"{constant} in an answer")

    return json.loads(text, parse_constant=refuse)


class Server:
    def __init__(self, directory):
        self.process = subprocess.Popen(
            [BINARY, "serve", directory, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address = None
        for line in self.process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found.group(0).rstrip("/")
                break
        if self.address is None:
            raise RuntimeError("the server did not start")
        self.answers = []

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def get(self, path, **query):
        """One answer as (status, parsed body); kept for the checks over all answers."""
        url = f"{self.address}/api/{path}"
        if query:
            url += "?" + urllib.parse.urlencode(query)
        while True:
            try:
                with urllib.request.urlopen(url, timeout=60) as response:
                    status, body = response.status, response.read()
            except urllib.error.HTTPError as error:
                status, body = error.code, error.read()
            if status != 202:  # 202: still loading; the server answers when it has progressed
                break
        text = body.decode("utf-8")  # raises on anything else
        answer = strict_json(text)
        self.answers.append(answer)
        return status, answer


def without_expectations(runs):
    """The answer of api/runs less the case's own expect.json, which is a .json file too."""
    for run in runs["runs"]:
        for worker in run["workers"]:
            worker["spans"] = [s for s in worker["spans"] if s["file"] != "expect.json"]
        run["workers"] = [w for w in run["workers"] if w["spans"]]
    runs["runs"] = [r for r in runs["runs"] if r["workers"]]
    return runs


class Case:
    def __init__(self, directory):
        self.directory = directory
        output = subprocess.run(
            [BINARY, "summary", "--format", "json", directory],
            capture_output=True,
            check=False,
            timeout=300,
        )
        self.document = strict_json(output.stdout.decode("utf-8"))
        self.server = Server(directory)
        try:
            _, runs = self.server.get("runs")
            self.runs = without_expectations(runs)
        except BaseException:
            self.close()
            raise
        self._slices = {}

    def close(self):
        self.server.close()

    def spans(self, run):
        return [
            span
            for r in self.runs["runs"]
            if r["name"] == run
            for worker in r["workers"]
            for span in worker["spans"]
        ]

    def traces(self, run):
        return [t for t in self.document["traces"] if t["run"] == run]

    def trace(self, run):
        found = self.traces(run) or (self.document["traces"] if run == "." else [])
        if not found:
            raise KeyError(f"no trace in run {run!r}")
        return found[0]

    def errors(self, run):
        folder = os.path.normpath(os.path.join(self.directory, run))
        return [
            e
            for e in self.document["errors"]
            if os.path.dirname(os.path.normpath(e["path"])) == folder
        ]

    def reports(self, run):
        return [entry for t in self.traces(run) for entry in t["report"]]

    def count(self, run, code):
        return sum(e["count"] for e in self.reports(run) if e["code"] == code)

    def slices(self, run):
        """Every slice of the run's first trace as the trace view gives it, by start."""
        if run not in self._slices:
            identity = self.spans(run)[0]["id"]
            events = [
                self.server.get(f"traces/{identity}/events/{e}")[1]
                for e in range(self.trace(run)["events"])
            ]
            self._slices[run] = sorted(events, key=lambda e: (e["start_ns"], e["id"]))
        return self._slices[run]

    def slice(self, run, name):
        return next(e for e in self.slices(run) if e["name"] == name)

    def unix_start(self, run, name):
        return int(self.trace(run).get("base_unix_ns", 0)) + self.slice(run, name)["start_ns"]

    def views(self, run):
        """Answers of every view of every trace of a run, without what names the file."""
        out = []
        for span in self.spans(run):
            base = f"traces/{span['id']}"
            for path, query in VIEWS:
                status, answer = self.server.get(f"{base}/{path}", **query)
                out.append((path, status, {k: v for k, v in answer.items() if k not in IDENTITY}))
        return out

    def all_answers(self):
        for run in [r["name"] for r in self.runs["runs"]]:
            self.views(run)
            for span in self.spans(run):
                for path in ("status", "names"):
                    self.server.get(f"traces/{span['id']}/{path}")
            if self.traces(run):
                self.slices(run)
        return self.server.answers


# What tells the file, not the trace: also how many texts it interns (the dictionary of tiles).
IDENTITY = {
    "run",
    "worker",
    "span",
    "path",
    "file",
    "id",
    "base_unix_ns",
    "generation",
    "metadata",
    "name_count",
}
VIEWS = [
    ("meta", {}),
    ("summary", {}),
    ("overview", {}),
    ("operators", {}),
    ("operators", {"group": "shape"}),
    ("operators", {"group": "stack"}),
    ("operators", {"kind": "annotation"}),
    ("kernels", {}),
    ("kernels", {"group": "launch"}),
    ("memory", {}),
]


def one(rows, name):
    found = [r for r in rows if r["name"] == name]
    if not found:
        raise KeyError(f"no row {name!r}")
    return found[0]


def field(row, name):
    """A field of a row; `_us` names are the document's ns ÷ 1000."""
    if name.endswith("_us"):
        value = row.get(name[:-3] + "_ns")
        return None if value is None else value / NS
    return row.get(name)


def only_step(trace):
    if len(trace["steps"]) != 1:
        raise KeyError(f"{len(trace['steps'])} steps")
    return trace["steps"][0]


def step_by_index(trace, index):
    return next(s for s in trace["steps"] if s["index"] == index)


def step_value(step, name):
    if name == "host_us":
        return (step["host"]["end_ns"] - step["host"]["start_ns"]) / NS
    return step["breakdown"][name.replace("_us", "_ns")] / NS


def collective(case):
    return case.document["collectives"][0]


def blocks_at(case, run, address):
    """Rows of the allocation tables of all devices at one address."""
    total = 0
    for device in case.trace(run)["memory"]:
        _, table = case.server.get(
            f"traces/{case.spans(run)[0]['id']}/memory/blocks",
            type=device["type"],
            device=device["id"],
        )
        total += sum(int(row["addr"], 16) == address for row in table["rows"])
    return total


def nonnegative(answer):
    if isinstance(answer, dict):
        return all(
            (not k.endswith("self_ns") or v >= 0) and nonnegative(v) for k, v in answer.items()
        )
    if isinstance(answer, list):
        return all(nonnegative(v) for v in answer)
    return True


def same_answers(case):
    first, *others = [r["name"] for r in case.runs["runs"]]
    summaries = [
        [{k: v for k, v in t.items() if k not in IDENTITY} for t in case.traces(run)]
        for run in (first, *others)
    ]
    reference = (case.views(first), summaries[0])
    return all((case.views(run), s) == reference for run, s in zip(others, summaries[1:]))


# Key pattern → what it reads: a function of (case, run, groups of the match).
KEYS = [
    (r"events", lambda c, r: sum(t["events"] for t in c.traces(r))),
    (r"kernel_rows", lambda c, r: len(c.trace(r)["kernels"])),
    (r"kernel\.total_us", lambda c, r: sum(k["total_ns"] for k in c.trace(r)["kernels"]) / NS),
    (r"kernel\.first", lambda c, r: c.trace(r)["kernels"][0]["name"]),
    (r"op\.(.+)\.([a-z_]+)", lambda c, r, name, f: field(one(c.trace(r)["operators"], name), f)),
    (r"kernel\.(.+)\.([a-z_]+)", lambda c, r, name, f: field(one(c.trace(r)["kernels"], name), f)),
    (r"name\.(\d+)", lambda c, r, i: c.slices(r)[int(i)]["name"]),
    (r"has\.(.+)", lambda c, r, name: any(e["name"] == name for e in c.slices(r))),
    (r"step\.(\d+)\.(\w+)", lambda c, r, n, f: step_value(step_by_index(c.trace(r), int(n)), f)),
    (r"step\.(\w+)", lambda c, r, f: step_value(only_step(c.trace(r)), f)),
    (r"gpu\.busy_us", lambda c, r: c.trace(r)["devices"][0]["busy_ns"] / NS),
    (r"gpu\.utilization_pct", lambda c, r: c.trace(r)["devices"][0]["utilization_pct"]),
    (r"comm\.us", lambda c, r: c.trace(r)["communication"]["total_ns"] / NS),
    (r"comm\.exposed_us", lambda c, r: c.trace(r)["communication"]["exposed_ns"] / NS),
    (r"range\.(start|end)_us", lambda c, r, end: c.trace(r)["range"][end + "_ns"] / NS),
    (
        r"warn\.kinds",
        lambda c, r: len({e["code"] for e in c.reports(r) if e["severity"] == "warning"}),
    ),
    (r"warn\.(\w+)", lambda c, r, code: c.count(r, code)),
    (
        r"error",
        lambda c, r: (
            bool(c.errors(r))
            or any(place.startswith("byte ") for e in c.reports(r) for place in e["first"])
        ),
    ),
    (r"incomplete", lambda c, r: c.count(r, "incomplete") > 0),
    (r"empty", lambda c, r: any(e["code"] == "empty" for e in c.errors(r))),
    (r"exists", lambda c, r: any(x["name"] == r for x in c.runs["runs"])),
    (r"repaired", lambda c, r: c.count(r, "repaired")),
    (r"repaired_or_skipped", lambda c, r: c.count(r, "repaired") + c.count(r, "skipped")),
    (
        r"rank(\d+)\.guessed",
        lambda c, r, n: next(t["rank_guessed"] for t in c.traces(r) if t.get("rank") == int(n)),
    ),
    (r"mem\.before_start", lambda c, r: sum(m["freed_from_before"] for m in c.trace(r)["memory"])),
    (r"mem\.addr(\d+)\.blocks", lambda c, r, a: blocks_at(c, r, int(a))),
    (
        r"mem\.(-?\d+)\.peak",
        lambda c, r, n: next(
            m.get("peak_allocated_bytes") for m in c.trace(r)["memory"] if m["id"] == int(n)
        ),
    ),
    (r"transfer_us", lambda c, r: collective(c)["transfer_ns"] / NS),
    (
        r"rank(\d+)\.wait_us",
        lambda c, r, n: (
            next(x["wait_ns"] for x in collective(c)["ranks"] if x["rank"] == int(n)) / NS
        ),
    ),
    (r"last", lambda c, r: collective(c)["last_rank"]),
    (
        r"gap_ns",
        lambda c, r: (
            c.slice(r, "k2")["start_ns"] - c.slice(r, "k1")["start_ns"] - c.slice(r, "k1")["dur_ns"]
        ),
    ),
    (r"same_answers", lambda c, r: same_answers(c)),
    (
        r"all_self_nonnegative",
        lambda c, r: all(nonnegative(a) for a in [c.document, *c.all_answers()]),
    ),
    (r"api_(?:utf8|finite)", lambda c, r: bool(c.all_answers())),  # get() raises otherwise
    (r"view\.(\w+)", lambda c, r, view: view in c.trace(r)["views"]),
    (
        r"names",
        lambda c, r: {
            os.path.basename(f)
            for f in [s["file"] for x in c.runs["runs"] for w in x["workers"] for s in w["spans"]]
            + [i["file"] for i in c.runs["ignored"]]
        },
    ),
    (r"(\w+)\.listed", lambda c, r, run: any(x["name"] == run for x in c.runs["runs"])),
    (r"(\w+)\.start_ns", lambda c, r, name: c.unix_start(r, name)),
    (r"(\w+)\.dur_ns", lambda c, r, name: c.slice(r, name)["dur_ns"]),
]


def read(case, key):
    run = "."
    prefix = re.match(r"([a-e])\.", key)
    if prefix:
        run, key = prefix.group(1), key[2:]
    for pattern, reader in KEYS:
        match = re.fullmatch(pattern, key)
        if match:
            return reader(case, run, *match.groups())
    raise KeyError(f"unknown key {key!r}")


def agrees(key, got, wanted):
    if key == "range.end_us":
        return got <= wanted
    if isinstance(wanted, list):
        return set(got) == set(wanted)
    if isinstance(wanted, bool) or isinstance(got, bool):
        return got is wanted
    if isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
        return abs(got - wanted) < 1e-6
    return got == wanted


def run_case(directory):
    """The failures of one case, as sentences."""
    with open(os.path.join(directory, "expect.json"), encoding="utf-8") as file:
        entries = json.load(file)
    failures = []
    case = Case(directory)
    try:
        for entry in entries:
            try:
                got = read(case, entry["key"])
            except Exception as error:  # pylint: disable=broad-except
                failures.append(f"{entry['key']}: {type(error).__name__}: {error}")
                continue
            if not agrees(entry["key"], got, entry["value"]):
                failures.append(
                    f"{entry['key']}: {got!r}, expected {entry['value']!r} ({entry['say']})"
                )
    finally:
        case.close()
    return failures


def main():
    root = sys.argv[1]
    passed = failed = 0
    for name in sorted(os.listdir(root)):
        directory = os.path.join(root, name)
        if not os.path.exists(os.path.join(directory, "expect.json")):
            continue
        try:
            failures = run_case(directory)
        except Exception as error:  # pylint: disable=broad-except
            failures = [f"{type(error).__name__}: {error}"]
        passed += not failures
        failed += bool(failures)
        print(f"{'FAIL' if failures else 'ok  '} {name}")
        for failure in failures:
            print(f"       {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
