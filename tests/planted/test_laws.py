"""Laws of the verdicts and of what they stand on, over the generated traces and the real ones: a
ceiling within the step, idle parts that sum to idle, a path that sums to the step."""

import os
import unittest

import plants
import support
from server import Server

ORDER = {"high": 0, "medium": 0, "low": 0, "ok": 1, "unknown": 2}
IDS = {
    "data_loading",
    "synchronization",
    "small_kernels",
    "inefficient_operators",
    "memory",
    "communication",
    "low_utilization",
}
SLACK = 0.02  # of a step


def verdict_laws(trace):
    """(law, holds) of one trace of the summary document."""
    verdicts = trace["verdicts"]
    if not trace["steps"]:
        yield "no verdicts without steps", not verdicts
        return
    yield "all seven, once", len(verdicts) == 7 and {v["id"] for v in verdicts} == IDS
    ranks = [ORDER[v["severity"]] for v in verdicts]
    yield "those that fire, then fine, then unknown", ranks == sorted(ranks)
    fire = [v.get("gain_ceiling_ns", 0) for v in verdicts if v["severity"] in support.FIRES]
    yield "by their ceilings", fire == sorted(fire, reverse=True)
    step = support.mean_step_ns(trace)
    for verdict in verdicts:
        ceiling = verdict.get("gain_ceiling_ns", 0)
        yield f"0 <= ceiling of {verdict['id']} <= step", 0 <= ceiling <= step + 1
        yield f"share of {verdict['id']}", 0 <= verdict.get("share_pct", 0) <= 100
        yield f"{verdict['id']} says something", bool(verdict["sentence"])


def route_laws(server, trace):
    """The same of the routes; `trace` is an id."""
    idle = server.ask(f"/api/traces/{trace}/idle").json()
    for device in idle["devices"]:
        parts = [cause["ns"] for cause in device["causes"]]
        yield "causes sum to the idle time", sum(parts) == device["idle_ns"]
        yield (
            "causes are positive, largest first",
            parts == sorted(parts, reverse=True) and all(part > 0 for part in parts),
        )
        length = idle["range"]["end_ns"] - idle["range"]["start_ns"]
        yield "idle within the range", 0 <= device["idle_ns"] <= length
        yield (
            "gaps within the idle time",
            sum(gap["end_ns"] - gap["start_ns"] for gap in device["gaps"]) <= device["idle_ns"],
        )
    path = server.ask(f"/api/traces/{trace}/critical-path").json()
    parts = [part["ns"] for part in path["parts"]]
    yield "parts of the path sum to the mean step", sum(parts) == path["mean_step_ns"]
    yield "no part is negative", all(part >= 0 for part in parts)
    if "step" in path and path["path"]:
        segments = path["path"]
        at = path["step"]["start_ns"]
        yield "the path begins with the step", segments[0]["start_ns"] == at
        for segment in segments:
            yield "no holes", segment["start_ns"] == at and segment["end_ns"] >= at
            at = segment["end_ns"]
        yield "the path ends with the step", at == path["step"]["end_ns"]
    for what in path["what_if"]:
        for ns in (what["gain_2x_ns"], what["ns_on_path"]):
            yield f"what if {what['name']}", 0 <= ns <= path["mean_step_ns"]
        # Both are of one chain, that begins behind the first step: half of what is on it, and what
        # the first step hides of it.
        most = what["ns_on_path"] / 2 + SLACK * path["mean_step_ns"]
        yield f"half of {what['name']} gains half at most", what["gain_2x_ns"] <= most


class LawsTest(unittest.TestCase):
    def hold(self, laws, where):
        broken = sorted({name for name, holds in laws if not holds})
        self.assertEqual(broken, [], where)

    def routes(self, folder, wanted):
        server = Server(folder)
        self.addCleanup(server.close)
        seen = 0
        for run in server.ask("/api/runs").json()["runs"]:
            spans = [span for worker in run["workers"] for span in worker["spans"]]
            for span in spans if wanted(run["name"]) else []:
                if server.loaded(span["id"])["phase"] == "ready":
                    self.hold(route_laws(server, span["id"]), span["file"])
                    seen += 1
        self.assertGreater(seen, 0)

    def test_verdicts_of_generated_traces(self):
        for run, traces in support.summaries().items():
            for trace in traces:
                self.hold(verdict_laws(trace), run)

    def test_routes_of_generated_traces(self):
        # One strength each: the others differ in length only.
        wanted = [n for n in plants.CASES if not n.endswith(("low", "high"))]
        self.routes(support.logdir(), lambda run: run.split("/")[0] in wanted)

    def test_verdicts_of_real_traces(self):
        for trace in support.summary(self.fixtures())["traces"]:
            self.hold(verdict_laws(trace), trace["path"])

    def test_routes_of_real_traces(self):
        self.routes(self.fixtures(), lambda run: True)

    def fixtures(self):
        folder = os.path.join(support.SHARED, "fixtures")
        if not os.path.isdir(folder):
            self.skipTest(f"no {folder}")
        return folder


if __name__ == "__main__":
    unittest.main()
