"""`traceglass cut`: the part opens in any reader of JSON, and wrong asks get a sentence."""

import gzip
import json
import os
import subprocess
import tempfile
import unittest

import small_logdir
from server import BINARY


def run(*arguments):
    done = subprocess.run([BINARY, "cut", *arguments], capture_output=True, timeout=60, text=True)
    return done.returncode, done.stdout, done.stderr


class CutCommandTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        small_logdir.make(folder.name)
        cls.out = os.path.join(folder.name, "part.json.gz")
        run_folder = os.path.join(folder.name, "run")
        name = min(n for n in os.listdir(run_folder) if n.startswith("node_1"))
        cls.file = os.path.join(run_folder, name)

    def part(self, *arguments):
        status, said, wrong = run(self.file, *arguments, "-o", self.out)
        self.assertEqual((status, wrong), (0, ""))
        self.assertIn(" events in ", said)
        with gzip.open(self.out) as file:
            return [row for row in json.load(file)["traceEvents"] if row["ph"] == "X"]

    def test_steps(self):
        steps = {r["name"] for r in self.part("--steps", "1") if "ProfilerStep" in r["name"]}
        self.assertEqual(steps, {"ProfilerStep#1"})

    def test_times(self):
        whole = self.part()
        some = self.part("--from", "1200us", "--to", "1.3ms")
        self.assertLess(len(some), len(whole))
        start = min(row["ts"] for row in whole)
        for row in some:
            if row["cat"] == "cpu_op":
                self.assertLess(row["ts"], start + 1300)
                self.assertGreater(row["ts"] + row["dur"], start + 1200)

    def test_wrong_asks(self):
        for arguments, word in (
            (("--from", "soon"), "--from"),
            (("--from", "2ms", "--to", "1ms"), "before"),
            (("--from", "100s"), "nothing"),
            (("--steps", "77"), "steps 77"),
            (("--steps", "x"), "steps x"),
        ):
            status, _, wrong = run(self.file, *arguments, "-o", self.out + ".no")
            self.assertEqual(status, 1)
            self.assertIn(word, wrong)
            self.assertFalse(os.path.exists(self.out + ".no"))
