"""What a mistyped command line is answered: a sentence that names what is wrong, and a status."""

import json
import os
import re
import subprocess
import tempfile
import unittest

import small_logdir
from server import BINARY

EXAMPLE = os.path.join(os.path.dirname(BINARY), "train_mlp")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


class CommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def trace(self):
        path = os.path.join(self.folder, "a.pt.trace.json")
        row = {"cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "s": "t"}
        args = {"Bytes": 4096, "Addr": 1, "Device Type": 0, "Device Id": -1}
        op = {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 9}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [op, {"ph": "i", "ts": 5, **row, "args": args}]}, file)
        return path

    def test_a_word_that_is_no_command(self):
        for word, kind in (("frobnicate", "command"), ("--nope", "option")):
            status, out, told = run(BINARY, word)
            self.assertNotEqual(status, 0)
            self.assertEqual(out, "")
            self.assertIn(f'no {kind} "{word}"', told)
            self.assertIn("summary", told)

    def test_version_and_help(self):
        status, out, _ = run(BINARY, "--version")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^traceglass \d+\.\d+\.\d+\n$")
        status, out, _ = run(BINARY, "--help")
        self.assertEqual(status, 0)
        self.assertIn("key-averages", out)

    def test_key_averages_of_a_directory(self):
        status, _, told = run(BINARY, "key-averages", self.folder)
        self.assertEqual(status, 1)
        self.assertIn("a directory", told)
        self.assertIn(f"traceglass summary {self.folder}", told)

    def test_memory_of_the_host_has_no_number(self):
        _, out, _ = run(BINARY, "summary", self.trace())
        self.assertIn("memory cpu: 1 allocations", out)

    def test_ranks_are_looked_at_together(self):
        for rank in (0, 1):
            path = os.path.join(self.folder, f"node_{rank}.1700000000000000000.pt.trace.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(small_logdir.trace(rank), file)
        _, out, _ = run(BINARY, "summary", self.folder)
        self.assertIn("run .: 2 ranks, 3 collectives, 60.0 µs of 840 µs in them is waiting", out)
        self.assertRegex(out, r"critical path of rank 0, ProfilerStep#\d: ")
        one = os.path.join(self.folder, "node_0.1700000000000000000.pt.trace.json")
        self.assertNotIn("critical path of rank", run(BINARY, "summary", one)[1])

    def test_top_is_no_negative_number(self):
        status, _, told = run(BINARY, "summary", "--top", "-3", self.trace())
        self.assertNotEqual(status, 0)
        self.assertIn("--top", told)

    def test_serving_what_is_not_there(self):
        path = os.path.join(self.folder, "nope")
        with subprocess.Popen(
            [BINARY, "serve", path, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                self.assertTrue(re.match(r"http://\S+:\d+/", server.stdout.readline()))
                self.assertIn(f"{path} does not exist yet", server.stderr.readline())
            finally:
                server.terminate()

    @unittest.skipUnless(os.path.exists(EXAMPLE), "the example is not built")
    def test_the_example(self):
        status, out, _ = run(EXAMPLE, "--help")
        self.assertEqual(status, 0)
        self.assertIn("LOGDIR", out)
        logs = os.path.join(self.folder, "logs")
        for wrong in ((logs, "abc"), (logs, "-5"), (logs, "3"), (logs, "60", "x"), ("--lr",)):
            status, _, told = run(EXAMPLE, *wrong)
            self.assertEqual(status, 2, wrong)
            self.assertIn("STEPS", told)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
