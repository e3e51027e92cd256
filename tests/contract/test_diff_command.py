"""`traceglass diff`: its text, its document, its Markdown, and the status that ends a build."""

import json
import os
import random
import subprocess
import tempfile
import unittest

import small_logdir
from contract import ROOT, Contract
from server import BINARY

SHARED = os.environ.get("TRACEGLASS_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
RESNET = os.path.join(SHARED, "fixtures", "kineto_tb", "resnet50_num_workers_0_worker0.")
HOSTILE = "a|b`c</td><script>alert(1)</script>\x1b[2J\n[x](http://x) *_#"


def diff(*arguments):
    done = subprocess.run([BINARY, "diff", *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def document(*arguments):
    status, out, error = diff("--format", "json", *arguments)
    return status, json.loads(out) if out else None, error


def run_of(steps, mean_us, sigma, seed, name="train", first=None):
    """Steps with a call that fills them; `first`: another length of the first one."""
    chance = random.Random(seed)
    rows, at = [], 1000.0
    for number in range(steps):
        length = round(chance.gauss(mean_us, sigma * mean_us), 3)
        if number == 0 and first is not None:
            length = first
        row = {"ph": "X", "pid": 1, "tid": 1, "ts": at, "dur": length}
        rows.append({**row, "cat": "user_annotation", "name": f"ProfilerStep#{number + 10}"})
        rows.append({**row, "cat": "cpu_op", "name": name, "ts": at + 1, "dur": length - 2})
        at = round(at + length, 3)
    return {"traceEvents": rows}


class DiffCommandTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        runs = {
            "base": run_of(12, 1000, 0.01, 1),
            "slow": run_of(12, 1030, 0.01, 2),
            "few": run_of(3, 1000, 0.01, 3),
            "few_slow": run_of(3, 1100, 0.01, 7),
            "hostile": run_of(12, 1100, 0.01, 4, name=HOSTILE),
            "opening": run_of(12, 1000, 0.01, 5, first=5000.0),
            "stepless": {"traceEvents": run_of(1, 900, 0, 6)["traceEvents"][1:]},
            "nothing": {"traceEvents": []},
        }
        for name, trace in runs.items():
            path = os.path.join(cls.folder, f"{name}.pt.trace.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(trace, file)
            setattr(cls, name, path)
        cls.logdir = os.path.join(cls.folder, "logs")
        small_logdir.make(cls.logdir)

    def test_json_is_the_contract_s(self):
        status, told, _ = document(self.base, self.slow)
        self.assertEqual(status, 0)
        self.assertEqual(told.pop("schema"), "traceglass.diff/1")
        Contract().check_schema({"$ref": "#/components/schemas/Comparison"}, told, "diff")
        self.assertEqual(told["verdict"], "slower")
        self.assertAlmostEqual(told["delta_pct"], 3, delta=1.5)
        low, high = told["significance"]["low_ns"], told["significance"]["high_ns"]
        self.assertTrue(low < told["delta_ns"] < high)
        self.assertGreater(low, 0)

    def test_exchanged_it_is_faster(self):
        _, forth, _ = document(self.base, self.slow)
        _, back, _ = document(self.slow, self.base)
        self.assertEqual(back["verdict"], "faster")
        self.assertEqual(forth["delta_ns"], -back["delta_ns"])

    def test_status_is_for_a_build(self):
        for status, a, b, limit in (
            (0, self.base, self.base, "0"),
            (0, self.base, self.slow, "5%"),
            (3, self.base, self.slow, "1 %".replace(" ", "")),
            (3, self.base, self.slow, "0.5"),
            (0, self.slow, self.base, "0%"),
            (3, self.few, self.few_slow, "5%"),  # too few for a test: by the means
            (3, self.base, self.nothing, "5%"),  # what cannot be judged has not passed
        ):
            with self.subTest(b=os.path.basename(b), limit=limit):
                done, out, error = diff(a, b, "--fail-on", limit)
                self.assertEqual(done, status, out + error)
                self.assertIn("Fail" if status == 3 else "Pass", out)
        _, out, _ = diff(self.few, self.few_slow, "--fail-on", "5%")
        self.assertIn("by the means alone", out)
        self.assertEqual(diff(self.base, self.slow)[0], 0)

    def test_steps_are_named_by_number(self):
        _, told, _ = document(self.base, self.base, "--steps-a", "10-15", "--steps-b", "16-21")
        self.assertEqual([told["a"]["count"], told["b"]["count"]], [6, 6])
        self.assertIn(told["verdict"], ("chance", "untested"))
        self.assertEqual(told["b"]["label"], "steps 16–21")
        for wrong in ("1-5", "x", "15-10"):
            status, _, error = diff(self.base, self.base, "--steps-a", wrong)
            self.assertEqual(status, 1)
            self.assertIn("--steps-a", error)

    def test_an_opening_step_is_set_aside_on_both_sides_and_said(self):
        _, told, _ = document(self.base, self.opening)
        self.assertTrue(told["a"]["set_aside"] and told["b"]["set_aside"])
        self.assertEqual([told["a"]["count"], told["b"]["count"]], [11, 11])
        self.assertIn("ProfilerStep#10 set aside", diff(self.base, self.opening)[1])
        _, all_steps, _ = document(self.base, self.opening, "--all-steps")
        self.assertEqual(all_steps["b"]["count"], 12)

    def test_markdown_holds_names_that_break_nothing(self):
        status, out, _ = diff(self.base, self.hostile, "--format", "markdown", "--fail-on", "5%")
        self.assertEqual(status, 3)
        self.assertIn("**", out.splitlines()[2])
        self.assertFalse(set(out) - {"\n"} & set(map(chr, range(32))))
        # Only the report's own tags stand outside of code.
        outside = "".join(part for part in out.split("`")[::2])
        self.assertNotIn("<script", outside)
        for line in out.splitlines():
            self.assertEqual(line.count("`") % 2, 0, line)
        table = [line for line in out.splitlines() if line.startswith("| `")]
        self.assertTrue(any("alert" in line for line in table))
        for line in table:
            self.assertIn(line.count("|"), (5, 9), line)

    def test_text_does_not_steer_a_terminal(self):
        _, out, _ = diff(self.base, self.hostile)
        self.assertIn("alert", out)
        self.assertFalse(set(out) - {"\n"} & set(map(chr, range(32))))
        self.assertIn("new", out)
        self.assertIn("vanished", out)

    def test_what_cannot_be_compared_is_said(self):
        _, out, _ = diff(self.base, self.stepless)
        self.assertIn("B has no steps", out)
        self.assertIn("Too few steps", out)
        _, out, _ = diff(self.base, self.nothing)
        self.assertIn("There is nothing to compare", out)
        self.assertIn("B has no usable slice", out)

    def test_directories(self):
        newest = os.path.join(self.folder, "one")
        for second, steps in ((1, 4), (2, 5), (10, 6)):
            name = f"w.{second}000000000.pt.trace.json"
            data = json.dumps(run_of(steps, 1000, 0.01, second)).encode()
            small_logdir.write(os.path.join(newest, name), data, 1_700_000_000)
        _, told, _ = document(newest, newest)
        self.assertEqual(told["a"]["count"], 6)
        status, _, error = diff(self.logdir, self.base)
        self.assertEqual(status, 1)
        self.assertIn("several workers", error)
        self.assertIn(os.path.join("run", "node_1"), error)

    def test_files_that_do_not_load_are_errors(self):
        absent = os.path.join(self.folder, "absent")
        broken = os.path.join(self.logdir, "wrong", "broken.pt.trace.json")
        for arguments in ((absent, self.base), (self.base, absent), (self.base, broken)):
            status, out, error = diff(*arguments)
            self.assertEqual((status, out), (1, ""))
            self.assertTrue(error)
        for arguments in ([], [self.base], [self.base, self.base, "--fail-on", "x%"]):
            self.assertNotIn(diff(*arguments)[0], (0, 3))

    def test_top_cuts(self):
        _, told, _ = document(
            self.logdir + "/other/timeless.pt.trace.json", self.base, "--top", "2"
        )
        self.assertEqual(len(told["rows"]), 2)

    @unittest.skipUnless(os.path.exists(RESNET + "1623143089861.pt.trace.json.gz"), "no fixtures")
    def test_resnet_became_faster_by_its_loader(self):
        a, b = (RESNET + f"{n}.pt.trace.json.gz" for n in (1623143089861, 1623143566756))
        _, told, _ = document(a, b)
        self.assertEqual((told["a"]["mean_ns"], told["b"]["mean_ns"]), (175_521_000, 151_539_200))
        self.assertEqual(told["verdict"], "faster")
        self.assertAlmostEqual(told["significance"]["p"], 2 / 252)
        self.assertEqual(told["parts"][0]["category"], "dataloader")
        self.assertAlmostEqual(told["parts"][0]["delta_ns"] / told["delta_ns"], 1, delta=0.01)
        self.assertFalse(told["device_changed"])
        self.assertEqual((told["appeared"], told["vanished"]), (0, 0))
        # Two halves of one run are no change.
        for path, first, second in ((a, "5-7", "8-10"), (b, "16-18", "19-21")):
            _, halves, _ = document(path, path, "--steps-a", first, "--steps-b", second)
            self.assertIn(halves["verdict"], ("chance", "untested"))
            self.assertFalse(halves["significance"]["significant"])


if __name__ == "__main__":
    unittest.main()
