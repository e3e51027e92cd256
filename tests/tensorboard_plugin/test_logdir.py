import os
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

import support
from traceglass_tb import logdir


class LogdirTest(unittest.TestCase):
    def test_logdir_is_made_absolute_and_home_expanded(self):
        with mock.patch.dict(os.environ, {"HOME": "/home/u"}):
            self.assertEqual(logdir.Source("~/runs").arguments(), ["/home/u/runs"])
        self.assertEqual(logdir.Source("tb/logs").arguments(), [os.path.abspath("tb/logs")])
        self.assertEqual(logdir.Source("gs://bucket/x").remote(), "gs://bucket/x")

    def test_a_current_directory_that_is_gone(self):
        with mock.patch("os.getcwd", side_effect=FileNotFoundError):
            self.assertEqual(logdir.Source("tb/logs").arguments(), ["tb/logs"])

    def test_spec(self):
        cases = {
            "a:/x,b:/y": [("a", "/x"), ("b", "/y")],
            " a:/x , /y ": [("a", "/x"), ("", "/y")],
            "gs://bucket/x": [("", "gs://bucket/x")],
            "run:gs://bucket/x": [("run", "gs://bucket/x")],
            "/a:b": [("", "/a:b")],
            ",,": [],
        }
        for spec, expected in cases.items():
            with self.subTest(spec):
                self.assertEqual(logdir.parse_spec(spec), expected)
        self.assertEqual(logdir.Source("", "a:/x,/y").arguments(), ["--logdir-spec", "a:/x,/y"])

    def test_context(self):
        self.assertEqual(logdir.Source.of_context(support.context("/l")).arguments(), ["/l"])
        spec = support.context("", logdir_spec="a:/x")
        self.assertEqual(logdir.Source.of_context(spec).arguments(), ["--logdir-spec", "a:/x"])
        self.assertEqual(
            logdir.Source.of_context(SimpleNamespace(logdir=None, flags=None)).arguments(), []
        )
        self.assertEqual(logdir.Source.of_context(None).directories, [])


class ScanTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = self._folder.name

    def touch(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").close()

    def holds(self):
        return logdir.Source(self.root).holds_profiles()

    def test_profile_in_a_subfolder(self):
        self.touch("run/events.out.tfevents.1")
        self.assertFalse(self.holds())
        self.touch("run/deep/w.123.pt.trace.json.gz")
        self.assertTrue(self.holds())

    def test_missing_directory(self):
        self.assertFalse(logdir.Source(os.path.join(self.root, "absent")).holds_profiles())

    def test_symlink_cycle_ends(self):
        os.symlink(self.root, os.path.join(self.root, "again"))
        self.assertFalse(self.holds())

    def test_unbounded_tree_gives_perhaps(self):
        for i in range(20):
            self.touch(f"d{i}/x.bin")
        with mock.patch.object(logdir, "_SCAN_ENTRIES", 10):
            self.assertTrue(self.holds())

    def test_new_profile_is_noticed_and_scan_is_not_repeated_at_once(self):
        source = logdir.Source(self.root)
        with mock.patch.object(logdir.time, "monotonic", return_value=100.0) as now:
            self.assertFalse(source.holds_profiles())
            self.touch("w.pt.trace.json")
            self.assertFalse(source.holds_profiles())
            now.return_value = 106.0
            self.assertTrue(source.holds_profiles())


if __name__ == "__main__":
    unittest.main()
