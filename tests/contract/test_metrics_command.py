"""`traceglass metrics`: what it writes is what TensorBoard's reader reads, and once."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from event_files import scalars_by_tensorboard
from server import BINARY
from small_logdir import BASE_NS, STEPS, trace, write


def run(*arguments):
    return subprocess.run([BINARY, "metrics", *arguments], capture_output=True, text=True)


class MetricsCommandTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def add(self, name, made):
        write(os.path.join(self.root, name), json.dumps(made).encode(), 1_700_000_000)

    def files(self):
        return sorted(
            os.path.relpath(os.path.join(folder, name), self.root)
            for folder, _, names in os.walk(self.root)
            for name in names
            if "tfevents" in name
        )

    def test_tensorboard_reads_what_is_written(self):
        self.add("run/w0.1700000000004000000.pt.trace.json", trace(0))
        self.add("run/w1.1700000000004000000.pt.trace.json", trace(1))
        done = run(self.root, "--write")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(
            self.files(),
            [
                f"run/traceglass/w{w}/events.out.tfevents.1700000000.00001.traceglass"
                for w in range(2)
            ],
        )
        told = scalars_by_tensorboard(os.path.join(self.root, "run/traceglass/w0"))
        self.assertEqual(
            sorted(told),
            [
                "traceglass/data_loading_pct",
                "traceglass/device_busy_pct",
                "traceglass/exposed_communication_ms",
                "traceglass/peak_memory_mib",
                "traceglass/step_time_ms",
            ],
        )
        summary = subprocess.run(
            [BINARY, "summary", "--format", "json", os.path.join(self.root, "run")],
            capture_output=True,
            check=True,
        )
        steps = json.loads(summary.stdout)["traces"][0]["steps"]
        times = told["traceglass/step_time_ms"]
        self.assertEqual([step for step, _, _ in times], list(range(1, STEPS + 1)))
        for (_, wall, value), row in zip(times, steps):
            extended, end = row["extended"], row["host"]["end_ns"]
            self.assertAlmostEqual(value, (extended["end_ns"] - extended["start_ns"]) / 1e6, 5)
            self.assertAlmostEqual(wall, (BASE_NS + end) / 1e9, 5)
        for values in told.values():
            self.assertEqual(len(values), STEPS)

    def test_exposed_is_what_no_kernel_covers(self):
        """A collective of 400 us: a kernel covers 100, a copy (which is no computation) 200."""
        device = {"ph": "X", "pid": 0, "args": {"device": 0}}
        nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        step = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1}
        rows = [
            {**step, "ts": 0, "dur": 1000},
            {**device, "cat": "kernel", "name": nccl, "tid": 20, "ts": 100, "dur": 400},
            {**device, "cat": "kernel", "name": "gemm", "tid": 7, "ts": 50, "dur": 150},
            {**device, "cat": "gpu_memcpy", "name": "Memcpy HtoD", "tid": 8, "ts": 250, "dur": 200},
        ]
        self.add("w0.pt.trace.json", {"schemaVersion": 1, "traceEvents": rows})
        self.assertEqual(run(self.root, "--write").returncode, 0)
        (name,) = self.files()
        told = scalars_by_tensorboard(os.path.dirname(os.path.join(self.root, name)))
        ((_, _, exposed),) = told["traceglass/exposed_communication_ms"]
        self.assertAlmostEqual(exposed, 0.3, 6)

    def test_written_twice_is_written_once(self):
        self.add("w.1700000000004000000.pt.trace.json", trace(0))
        run(self.root, "--write")
        (name,) = self.files()
        with open(os.path.join(self.root, name), "rb") as file:
            before = file.read()
        again = run(self.root, "--write")
        self.assertEqual((again.returncode, again.stdout), (0, "1 written before and unchanged\n"))
        self.assertEqual(self.files(), [name])
        with open(os.path.join(self.root, name), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_without_write_nothing_is_written(self):
        self.add("w.1700000000004000000.pt.trace.json", trace(0))
        done = run(self.root)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, STEPS))
        self.assertIn("step_time_ms", done.stdout)
        self.assertEqual(self.files(), [])

    def test_what_goes_wrong_is_said(self):
        self.add("empty.pt.trace.json", {"schemaVersion": 1, "traceEvents": []})
        done = run(self.root, "--write")
        self.assertEqual(done.returncode, 0)
        self.assertIn("without steps", done.stderr)
        self.add("broken.pt.trace.json", trace(0))
        with open(os.path.join(self.root, "broken.pt.trace.json"), "wb") as file:
            file.write(b'{"schemaVersion": }')
        self.assertEqual(run(self.root, "--write").returncode, 1)
        self.assertEqual(run(os.path.join(self.root, "nothing")).returncode, 1)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
