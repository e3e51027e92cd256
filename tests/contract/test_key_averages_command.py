"""`traceglass key-averages`: that text, JSON and CSV say the same, whatever the names."""

import csv
import io
import json
import os
import subprocess
import tempfile
import unittest

from server import BINARY

NAMES = ["aten::mm", 'quote " comma , é 🚀', "line\nline\r", "\x1b[2Jgone", "=1+1", "nul\0nul", ""]


def run(*arguments):
    done = subprocess.run([BINARY, "key-averages", *arguments], capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def slices():
    for i, name in enumerate(NAMES):
        yield {
            **{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1},
            **{"ts": 100 * i, "dur": 10 + i},
            "args": {"Input Dims": [[2, 3], [3, 4]], "Call stack": "b.py(2): g;a.py(1): f;"},
        }
    yield {
        **{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1},
        **{"ts": 0, "dur": 2000},
    }
    yield {
        **{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "s": "t"},
        **{"ts": 5, "args": {"Bytes": 4096, "Device Type": 0, "Device Id": -1}},
    }


class KeyAveragesCommandTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file = os.path.join(folder.name, "w.pt.trace.json")
        document = {"profile_memory": 1, "with_flops": 1, "traceEvents": list(slices())}
        with open(cls.file, "w", encoding="utf-8") as file:
            json.dump(document, file)

    def rows(self, *arguments):
        status, out, _ = run(self.file, "--format", "json", *arguments)
        self.assertEqual(status, 0)
        return json.loads(out)

    def test_json_has_torchs_fields(self):
        rows = {row["key"]: row for row in self.rows()}
        mm = rows["aten::mm"]
        self.assertEqual(mm["count"], 1)
        self.assertEqual(mm["cpu_time_total"], 10)
        self.assertEqual(mm["self_cpu_memory_usage"], 4096)
        self.assertEqual(mm["flops"], 2 * 2 * 3 * 4)
        self.assertEqual(mm["input_shapes"], "")
        self.assertEqual(mm["stack"], [])
        self.assertEqual(mm["device_type"], "DeviceType.CPU")
        self.assertFalse(mm["is_user_annotation"])
        self.assertEqual(set(NAMES) - set(rows), set())
        self.assertTrue(rows["ProfilerStep*"]["is_user_annotation"])

    def test_groups(self):
        shapes = {str(row["input_shapes"]) for row in self.rows("--group-by-input-shape")}
        self.assertEqual(shapes, {"[]", "[[2, 3], [3, 4]]"})
        stacks = {tuple(row["stack"]) for row in self.rows("--group-by-stack-n", "1")}
        self.assertEqual(stacks, {(), ("b.py(2): g",)})

    def test_order_and_limit(self):
        sorted_rows = self.rows("--sort-by", "self_cpu_time_total")
        times = [row["self_cpu_time_total"] for row in sorted_rows]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(
            self.rows("--sort-by", "self_cpu_time_total", "--row-limit", "2"), sorted_rows[:2]
        )
        self.assertEqual(self.rows("--top-level-events-only")[0]["key"], "ProfilerStep*")
        self.assertEqual(len(self.rows("--top-level-events-only")), 1)

    def test_csv_says_the_same(self):
        wanted = self.rows("--group-by-input-shape")
        status, out, _ = run(self.file, "--format", "csv", "--group-by-input-shape")
        self.assertEqual(status, 0)
        got = list(csv.DictReader(io.StringIO(out, newline="")))
        self.assertEqual(len(got), len(wanted))
        for told, row in zip(got, wanted):
            for key, value in row.items():
                if key in ("cpu_time_total", "count", "cpu_memory_usage", "flops"):
                    self.assertEqual(float(told[key]), value, key)
            name = told["key"].lstrip("'") if told["key"].startswith("'") else told["key"]
            self.assertEqual(name, row["key"].replace("\0", "\ufffd"))

    def test_text_is_one_line_a_row(self):
        status, out, _ = run(self.file, "--row-limit", "-1", "--sort-by", "cpu_time_total")
        self.assertEqual(status, 0)
        lines = out.splitlines()
        self.assertEqual(len(lines), len(NAMES) + 1 + 5)
        self.assertFalse(set(out) - {"\n"} & set(map(chr, range(32))))
        self.assertTrue(lines[-1].startswith("Self CPU time total: "))
        self.assertIn("ProfilerStep*", lines[3])

    def test_what_is_wrong_is_said(self):
        for arguments, word in (
            ([self.file, "--sort-by", "nonsense"], "nonsense"),
            ([self.file, "--format", "xml"], "xml"),
            ([self.file, "--time-unit", "h"], "h"),
            ([self.file, "--group-by-stack-n", "-1"], "-1 not in range 0 to 2147483647"),
            ([self.file + ".absent"], "absent"),
            ([__file__], "test_key_averages_command.py"),
            ([], "file"),
        ):
            with self.subTest(arguments):
                status, out, error = run(*arguments)
                self.assertNotEqual(status, 0)
                self.assertEqual(out, "")
                self.assertIn(word, error)

    def test_an_empty_trace_is_said(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"traceEvents": []}')
            file.flush()
            status, out, error = run(file.name)
        self.assertEqual((status, out), (0, ""))
        self.assertIn("no rows", error)

    def test_a_full_disk_is_said(self):
        for command in (["key-averages"], ["summary"], ["summary", "--format", "json"]):
            with self.subTest(command), open("/dev/full", "wb") as full:
                done = subprocess.run(
                    [BINARY, *command, self.file], stdout=full, stderr=subprocess.PIPE, timeout=60
                )
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"No space left on device", done.stderr)

    def test_a_cut_file_is_printed_and_said(self):
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cut.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text[: len(text) * 2 // 3])
            status, out, error = run(path)
        self.assertEqual(status, 0)
        self.assertIn("aten::mm", out)
        self.assertIn("cut.json", error)

    def test_a_profile_without_events_prints_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "none.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": []}, file)
            self.assertEqual(run(path)[:2], (0, ""))
            self.assertEqual(json.loads(run(path, "--format", "json")[1]), [])


if __name__ == "__main__":
    unittest.main()
