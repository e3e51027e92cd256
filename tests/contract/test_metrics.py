"""Metrics: event files by TensorBoard's writer read as its reader reads them, runs and profiles
beside each other, steps joined across two clocks, and every answer by openapi.yaml."""

import json
import math
import os
import tempfile
import unittest

from contract import Contract
from event_files import EventFile, scalars_by_tensorboard
from server import Server
from small_logdir import BASE_NS, trace, write
from test_contract import Asked, spans_of

BASE_S = BASE_NS / 1e9
STEP_S = 0.001  # steps 1, 2, 3 of small_logdir's trace follow each other
LAG_S = 0.0001  # a program logs a step a little after its end


def step_end(number):
    return BASE_S + number * STEP_S + 0.99025 * STEP_S


def fill(root, clock_ahead=0.0):
    """One profile of steps 1–3, and its run's scalars of steps 0–9 beside it and above it."""
    folder = os.path.join(root, "exp")
    profile = os.path.join(folder, "plugins", "profile", "w.1700000000004000000.pt.trace.json")
    write(profile, json.dumps(trace(0)).encode(), 1_700_000_000)
    with EventFile(folder) as file:
        for step in range(10):
            wall = step_end(step) + LAG_S + clock_ahead
            file.scalar("loss", step, wall, 1.0 / (step + 1))
            file.tensor("lr", step, wall, 0.5 if step < 5 else 0.25, "double")
        file.scalar("bad", 0, BASE_S, math.nan)
        file.scalar("bad", 1, BASE_S + 1, math.inf)
        file.histogram("weights", 3, BASE_S)
    with EventFile(os.path.join(root, "unrelated", "deep")) as file:
        file.scalar("<img src=x>", 0, BASE_S, 1.0)


class MetricsTest(unittest.TestCase):
    def serve(self, root):
        server = Server(root)
        self.addCleanup(server.close)
        return Asked(server, Contract())

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def profile(self, ask):
        (_, _, span) = spans_of(ask("getRuns").json())[0]
        return span["id"]

    def test_list(self):
        root = self.folder()
        fill(root)
        ask = self.serve(root)
        runs = ask("getMetrics", near="exp/plugins/profile").json()["runs"]
        self.assertEqual(
            [(r["name"], r["related"]) for r in runs], [("exp", True), ("unrelated/deep", False)]
        )
        tags = {tag["tag"]: tag for tag in runs[0]["tags"]}
        self.assertEqual(list(tags), ["loss", "lr", "bad", "weights"])
        self.assertEqual(tags["loss"]["count"], 10)
        self.assertEqual(tags["lr"]["last_value"], 0.25)
        self.assertEqual((tags["bad"]["not_finite"], tags["bad"]["last_value"]), (2, "inf"))
        self.assertEqual(tags["weights"]["kind"], "histogram")
        self.assertEqual(runs[0]["notices"], [])
        only = ask("getMetrics", run="exp", filter="L", limit=1).json()["runs"]
        self.assertEqual((only[0]["matching"], [t["tag"] for t in only[0]["tags"]]), (2, ["loss"]))

    def test_series(self):
        root = self.folder()
        fill(root)
        ask = self.serve(root)
        series = ask("getMetricSeries", run="exp", tag="loss").json()
        (line,) = series["lines"]
        self.assertEqual(line["x"], list(range(10)))
        self.assertAlmostEqual(line["value"][3], 0.25)
        self.assertAlmostEqual(series["median_gap_s"], STEP_S, 6)
        relative = ask("getMetricSeries", run="exp", tag="loss", axis="relative").json()
        # The run's first event is that of "bad", at the base.
        self.assertAlmostEqual(relative["lines"][0]["x"][0], step_end(0) + LAG_S - BASE_S, 6)
        gaps = ask("getMetricSeries", run="exp", tag="bad", axis="wall").json()
        self.assertEqual(gaps["lines"][0]["value"], [None, None])
        smooth = ask("getMetricSeries", run="exp", tag="lr", smoothing=0.6).json()["lines"][0]
        self.assertAlmostEqual(smooth["smooth"][0], 0.5)  # freed of the pull to 0
        part = ask("getMetricSeries", run="exp", tag="loss", **{"from": 3, "to": 5}).json()
        self.assertEqual((part["in_range"], part["lines"][0]["x"]), (3, [2, 3, 4, 5, 6]))

    def test_problems(self):
        root = self.folder()
        fill(root)
        ask = self.serve(root)
        for operation, status, query in [
            ("getMetrics", 404, {"run": "nothing"}),
            ("getMetrics", 422, {"limit": -1}),
            ("getMetricSeries", 422, {"run": "exp"}),
            ("getMetricSeries", 404, {"run": "exp", "tag": "nothing"}),
            ("getMetricSeries", 404, {"run": "nothing", "tag": "loss"}),
            ("getMetricSeries", 422, {"run": "exp", "tag": "loss", "smoothing": 1}),
            ("getMetricSeries", 422, {"run": "exp", "tag": "loss", "smoothing": "nan"}),
            ("getMetricSeries", 422, {"run": "exp", "tag": "loss", "axis": "z"}),
            ("getMetricMarks", 404, {"run": "nothing"}),
            ("getMetricMarks", 422, {"run": "exp", "by": "guess"}),
            ("getMetricsAt", 404, {"id": "0" * 16}),
            ("getMetricsAt", 404, {"id": self.profile(ask), "run": "nothing"}),
        ]:
            with self.subTest(operation=operation, query=query):
                answer = ask(operation, **query)
                while answer.status == 202:
                    answer = ask(operation, **query)
                self.assertEqual(answer.status, status)

    def test_marks_and_values(self):
        root = self.folder()
        fill(root)
        ask = self.serve(root)
        trace_id = self.profile(ask)
        (mark,) = ask("getMetricMarks", run="exp").json()["marks"]
        self.assertEqual((mark["source"], mark["loaded"], mark["steps"]), ("name", False, []))
        self.assertEqual(mark["last_metric_step"], 3)  # written at 4 ms: step 3's event is nearest
        self.assertEqual(ask("getMetricMarks", run="unrelated/deep").json()["marks"], [])
        ask.server.loaded(trace_id)
        (mark,) = ask("getMetricMarks", run="exp").json()["marks"]
        self.assertEqual((mark["source"], mark["loaded"], mark["shift"]), ("trace", True, 0))
        self.assertEqual((mark["first_metric_step"], mark["last_metric_step"]), (1, 3))
        at = ask("getMetricsAt", id=trace_id).json()
        self.assertEqual((at["run"], at["related"], at["clock_tag"]), ("exp", ["exp"], "loss"))
        rows = {row["tag"]: row["values"] for row in at["rows"]}
        self.assertEqual([round(v, 4) for v in rows["loss"]], [0.5, 0.3333, 0.25])
        self.assertAlmostEqual(at["uncertainty_s"], STEP_S / 2, 6)
        self.assertAlmostEqual(at["offset_s"], LAG_S, 6)
        self.assertLess(at["offset_error_s"], 1e-6)

    def test_planted_offset_between_clocks(self):
        """Another machine's clock, 0.9 s ahead: by number it is found, and then the clock joins."""
        root = self.folder()
        fill(root, clock_ahead=0.9)
        ask = self.serve(root)
        trace_id = self.profile(ask)
        ask.server.loaded(trace_id)
        lost = ask("getMetricsAt", id=trace_id).json()
        self.assertTrue(all("metric_step" not in step for step in lost["steps"]))
        found = ask("getMetricsAt", id=trace_id, by="number").json()
        self.assertEqual([s["metric_step"] for s in found["steps"]], [1, 2, 3])
        self.assertAlmostEqual(found["offset_s"], 0.9 + LAG_S, 5)
        self.assertLess(found["offset_error_s"], 1e-5)
        joined = ask("getMetricsAt", id=trace_id, clock_offset=found["offset_s"]).json()
        self.assertEqual([s["metric_step"] for s in joined["steps"]], [1, 2, 3])
        shifted = ask("getMetricsAt", id=trace_id, by="number", shift=2).json()
        self.assertEqual([s["metric_step"] for s in shifted["steps"]], [3, 4, 5])

    def same_as_tensorboard(self, ask, root, run):
        told = scalars_by_tensorboard(os.path.join(root, run))
        for tag, points in told.items():
            with self.subTest(tag):
                series = ask("getMetricSeries", run=run, tag=tag, points=10_000).json()
                ours = [
                    point
                    for line in series["lines"]
                    for point in zip(line["step"], line["wall_time"], line["value"])
                ]
                self.assertEqual(ours, points)
        return sorted(told)

    def test_reads_what_tensorboard_reads(self):
        root = self.folder()
        with EventFile(os.path.join(root, "kinds")) as file:
            for step in range(200):
                file.scalar("simple", step, 1000 + step, math.sin(step))
                file.tensor("float", step, 1000 + step, step / 3, "float")
                file.tensor("double", step, 1000 + step, step * 1e200, "double")
                file.tensor("int", step, 1000 + step, -step, "int")
        ask = self.serve(root)
        tags = self.same_as_tensorboard(ask, root, "kinds")
        self.assertEqual(tags, ["double", "float", "int", "simple"])

    def test_restart(self):
        root = self.folder()
        run = os.path.join(root, "run")
        with EventFile(run, name="events.out.tfevents.1000") as file:
            for step in range(200):
                file.scalar("loss", step, 1000 + step, math.sin(step))
        with EventFile(run, name="events.out.tfevents.2000") as file:
            file.session(150, 2000)
            for step in range(150, 250):
                file.scalar("loss", step, 2000 + step, math.cos(step))
        ask = self.serve(root)
        self.assertEqual(self.same_as_tensorboard(ask, root, "run"), ["loss"])
        series = ask("getMetricSeries", run="run", tag="loss", superseded="show").json()
        self.assertEqual((series["count"], series["superseded"]), (300, 50))
        self.assertEqual([line["superseded"] for line in series["lines"]], [True, False])

    def test_grows_and_is_damaged(self):
        root = self.folder()
        path = os.path.join(root, "run")
        with EventFile(path) as file:
            file.scalar("loss", 0, 1000, 1.0)
            file.scalar("loss", 1, 1001, 2.0)
        (name,) = os.listdir(path)
        with open(os.path.join(path, name), "rb") as file:
            whole = file.read()
        with open(os.path.join(path, name), "wb") as file:
            file.write(whole[:-10])
        ask = self.serve(root)

        def run():
            return ask("getMetrics").json()["runs"][0]

        self.assertEqual(run()["tags"][0]["count"], 1)
        self.assertEqual([n["code"] for n in run()["notices"]], ["waiting"])
        with open(os.path.join(path, name), "ab") as file:
            file.write(whole[-10:] + b"\x07" * 50 + whole)
        seen = run()
        while seen["tags"][0]["count"] != 4:  # the log directory is looked at once a second
            seen = run()
        self.assertEqual([n["code"] for n in seen["notices"]], ["damaged"])
        self.assertIn("50 bytes were passed over", seen["notices"][0]["message"])


if __name__ == "__main__":
    unittest.main()
