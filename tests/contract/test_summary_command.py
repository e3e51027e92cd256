"""`traceglass summary`: the document against its schema, and that text and CSV say what it says."""

import csv
import io
import json
import os
import subprocess
import tempfile
import unittest

import jsonschema
import small_logdir
from contract import ROOT
from server import BINARY

SCHEMA = os.path.join(ROOT, "tb_backend", "api", "summary.schema.json")
STEPS = small_logdir.STEPS


def summary(*arguments):
    done = subprocess.run(
        [BINARY, "summary", *arguments], capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


class SummaryCommandTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.wrong = small_logdir.make(cls.folder)
        cls.good = os.path.join(cls.folder, "run")

    def rows(self, *arguments):
        status, out, _ = summary("--format", "csv", *arguments)
        self.assertEqual(status, 0)
        return list(csv.DictReader(io.StringIO(out)))

    def document(self, *arguments):
        _, out, _ = summary("--format", "json", *arguments)
        return json.loads(out)

    def test_json_is_the_document(self):
        status, out, _ = summary("--format", "json", self.folder)
        self.assertEqual(status, 0)
        document = json.loads(out)
        with open(SCHEMA, encoding="utf-8") as file:
            jsonschema.Draft202012Validator(json.load(file)).validate(document)
        named = {os.path.relpath(e["path"], self.folder): e["code"] for e in document["errors"]}
        self.assertEqual(named, self.wrong)
        self.assertEqual(len(document["traces"]), 7)
        self.assertTrue(document["collectives"])

    def test_csv_holds_the_tables_of_the_document(self):
        document = self.document(self.good)
        for view in ("operators", "annotations", "kernels", "memory"):
            with self.subTest(view):
                wanted = [row for trace in document["traces"] for row in trace[view]]
                got = self.rows("--view", view, self.good)
                self.assertEqual(len(got), len(wanted))
                for told, row in zip(got, wanted):
                    for key, value in row.items():
                        self.assertEqual(told[key], str(value), key)
        steps = self.rows("--view", "overview", self.good)
        self.assertEqual(len(steps), STEPS * len(document["traces"]))
        for step in steps:
            parts = [int(step[key]) for key in document["traces"][0]["steps"][0]["breakdown"]]
            self.assertEqual(sum(parts), int(step["end_ns"]) - int(step["start_ns"]))

    def test_top_cuts_tables(self):
        whole = self.document(self.good)["traces"][0]
        cut = self.document("--top", "2", self.good)["traces"][0]
        self.assertEqual(cut["operators"], whole["operators"][:2])
        self.assertEqual(cut["steps"], whole["steps"])
        self.assertEqual(self.document("--top", "0", self.good)["traces"][0], whole)
        traces = len(self.document(self.good)["traces"])
        self.assertEqual(len(self.rows("--top", "2", self.good)), 2 * traces)

    def test_text_is_for_people(self):
        status, out, _ = summary(self.folder)
        self.assertEqual(status, 0)
        for word in ("ProfilerStep#1", "aten::mm", "cutlass", "memory cuda 0", "not_a_trace"):
            self.assertIn(word, out)
        _, out, _ = summary("--view", "kernels", self.good)
        self.assertIn("cutlass", out)
        self.assertNotIn("aten::mm", out)

    def test_names_do_not_steer_a_terminal(self):
        name = "\x1b[2Jgone\r\nline"
        row = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 2}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.pt.trace.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": [row]}, file)
            _, out, _ = summary(path)
        self.assertIn("gone", out)
        self.assertFalse(set(out) - {"\n"} & set(map(chr, range(32))))

    def test_nothing_that_loads_is_a_failure(self):
        for path in (os.path.join(self.folder, "wrong"), os.path.join(self.folder, "absent")):
            for form in ("text", "json", "csv"):
                with self.subTest(form, path=path):
                    status, out, error = summary("--format", form, path)
                    self.assertEqual(status, 1)
                    self.assertIn(path, out + error)

    def test_wrong_arguments_are_refused(self):
        for arguments in (
            [],
            ["--format", "xml", self.good],
            ["--view", "none", self.good],
            ["--top", "x", self.good],
        ):
            self.assertNotEqual(summary(*arguments)[0], 0, arguments)


if __name__ == "__main__":
    unittest.main()
