"""The rows of a simulated rank as torch.profiler writes them: Chrome JSON, microseconds with three
decimals against a base, one rank a file. Row order, keys and ids are those of torch 2.6."""

import gzip
import json
import os
from bisect import bisect_right

from simulation import AUTOGRAD, COMM, MAIN, Row

BASE_NS = 1_764_460_800_000_000_000
DEVICE = {
    "name": "NVIDIA A100-SXM4-80GB",
    "totalGlobalMem": 85_094_825_984,
    "computeMajor": 8,
    "computeMinor": 0,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerBlock": 65_536,
    "warpSize": 32,
    "sharedMemPerBlock": 49_152,
    "numSms": 108,
    "regsPerMultiprocessor": 65_536,
    "sharedMemPerBlockOptin": 166_912,
    "sharedMemPerMultiprocessor": 167_936,
}
CBID = {
    "cudaLaunchKernel": 211,
    "cudaLaunchKernelExC": 430,
    "cudaMemcpyAsync": 41,
    "cudaMemsetAsync": 51,
    "cudaStreamSynchronize": 131,
    "cudaDeviceSynchronize": 165,
    "cudaEventRecord": 135,
    "cudaStreamWaitEvent": 147,
    "cudaMalloc": 20,
    "cudaFree": 22,
    "cudaGraphLaunch": 311,
}
LAUNCHES = {
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "cudaGraphLaunch",
}
HOST_OPS = ("cpu_op", "user_annotation")


def microseconds(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


class Writer:
    """One file. Objects are put together as text, since `json` cannot write 12.340."""

    def __init__(self, rank):
        self.rank = rank
        self.pid = 4_000 + rank.rank
        self.tids = {MAIN: self.pid, AUTOGRAD: self.pid + 61}
        self.out = []

    def row(self, row):
        host = row.lane in self.tids
        pid, tid = (self.pid, self.tids[row.lane]) if host else (self.rank.rank, row.lane)
        self._object(
            f'"ph": "X", "cat": "{row.cat}", "name": {json.dumps(row.name)}, "pid": {pid}, '
            f'"tid": {tid}, "ts": {microseconds(row.start)}, '
            f'"dur": {microseconds(row.end - row.start)}',
            self._args(row),
        )
        return pid, tid

    def instant(self, row):
        self._object(
            f'"ph": "i", "cat": "{row.cat}", "s": "t", "name": "{row.name}", "pid": {self.pid}, '
            f'"tid": {self.tids[row.lane]}, "ts": {microseconds(row.start)}',
            row.args,
        )

    def flow(self, phase, identity, pid, tid, at, category):
        end = ', "bp": "e"' if phase == "f" else ""
        self._object(
            f'"ph": "{phase}", "id": {identity}, "pid": {pid}, "tid": {tid}, '
            f'"ts": {microseconds(at)}, "cat": "{category}", "name": "{category}"{end}'
        )

    def names(self, at):
        def meta(name, pid, tid, key, value):
            self._object(
                f'"name": "{name}", "ph": "M", "ts": {microseconds(at)}, "pid": {pid}, '
                f'"tid": {tid}',
                {key: value},
            )

        for pid, label, order in [
            (self.pid, "CPU", self.pid),
            (self.rank.rank, f"GPU {self.rank.rank}", 5_000_000 + self.rank.rank),
        ]:
            meta("process_name", pid, 0, "name", "python3")
            meta("process_labels", pid, 0, "labels", label)
            meta("process_sort_index", pid, 0, "sort_index", order)
        for tid, name in [(self.tids[MAIN], "python3"), (self.tids[AUTOGRAD], "pt_autograd_0")]:
            meta("thread_name", self.pid, tid, "name", f"thread {tid} ({name})")
            meta("thread_sort_index", self.pid, tid, "sort_index", tid)
        for stream in sorted({r.lane for r in self.rank.rows if r.lane not in self.tids}):
            meta("thread_name", self.rank.rank, stream, "name", f"stream {stream} ")
            meta("thread_sort_index", self.rank.rank, stream, "sort_index", stream)

    def _args(self, row):
        args = dict(row.args)
        if row.cat == "kernel":
            blocks = args["grid"][0] * args["grid"][1] * args["grid"][2]
            warps = -(-args["block"][0] * args["block"][1] * args["block"][2] // 32)
            per_sm = blocks / DEVICE["numSms"]
            placed = {"queued": 0, "device": self.rank.rank, "context": 1, "stream": row.lane}
            placed |= {"blocks per SM": round(per_sm, 6), "warps per SM": round(per_sm * warps, 6)}
            return placed | args
        if row.cat in ("gpu_memcpy", "gpu_memset"):
            return {"device": self.rank.rank, "context": 1, "stream": row.lane} | args
        if row.cat == "cuda_runtime":
            return {"cbid": CBID[row.name]} | args
        return args

    def _object(self, head, args=None):
        tail = "" if args is None else f', "args": {json.dumps(args)}'
        self.out.append("{" + head + tail + "}")


def text_of(rank, name):
    """The whole file's text."""
    writer = Writer(rank)
    rows = rank.rows
    backward = {id(b): n for n, (_, b) in enumerate(rank.flows, 1)}
    forward = {id(f): n for n, (f, _) in enumerate(rank.flows, 1)}
    for index, row in enumerate(rows):
        if row.cat in HOST_OPS:
            row.args.setdefault("Record function id", 0)
            row.args["Ev Idx"] = index
            pid, tid = writer.row(row)
            if id(row) in forward:
                writer.flow("s", forward[id(row)], pid, tid, row.start, "fwdbwd")
            if id(row) in backward:
                writer.flow("f", backward[id(row)], pid, tid, row.start, "fwdbwd")
    for row in rows:
        if row.cat == "cpu_instant_event":
            writer.instant(row)
    for row in rows:
        if row.cat == "python_function":
            writer.row(row)
    launched = {r.args["correlation"] for r in rows if r.name in LAUNCHES}
    for row in rows:
        if row.cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            pid, tid = writer.row(row)
            writer.flow("f", row.args["correlation"], pid, tid, row.start, "ac2g")
        elif row.cat == "cuda_runtime":
            pid, tid = writer.row(row)
            phase = "s" if row.args["correlation"] in launched else "f"
            writer.flow(phase, row.args["correlation"], pid, tid, row.start, "ac2g")
    for row in _device_annotations(rank):
        writer.row(row)
    end = max(row.end for row in rows)
    writer.names(min(row.start for row in rows))
    writer._object(
        '"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", '
        f'"ts": {microseconds(end + 2_000_000)}'
    )
    return _head(rank) + ",\n".join(writer.out) + f'\n  ],\n  "traceName": "{name}"\n}}\n'


def write(rank, folder, worker):
    """`worker`.`stamp`.pt.trace.json.gz; returns the path. The same bytes for the same rank."""
    os.makedirs(folder, exist_ok=True)
    name = f"{worker}.{BASE_NS + 1_000_000_000}.pt.trace.json.gz"
    path = os.path.join(folder, name)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as zipped:
        zipped.write(text_of(rank, name).encode())
    return path


def _head(rank):
    devices = [{"id": n} | DEVICE for n in range(max(1, rank.world))]
    head = {
        "schemaVersion": 1,
        "deviceProperties": devices,
        "cupti_version": 24,
        "cuda_runtime_version": 12_060,
        "cuda_driver_version": 12_080,
        "record_shapes": 1,
        "profile_memory": 1,
    }
    if rank.stacks:
        head |= {"with_stack": 1, "with_modules": 1}
    if rank.world > 1:
        ranks = list(range(rank.world))
        group = {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl"}
        head["distributedInfo"] = {
            "backend": "nccl",
            "rank": rank.rank,
            "world_size": rank.world,
            "pg_count": 1,
            "pg_config": [group | {"pg_size": rank.world, "ranks": ranks}],
            "nccl_version": "2.21.5",
        }
    head |= {
        "trace_id": f"{rank.seed:032X}",
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": BASE_NS,
    }
    return json.dumps(head, indent=2)[:-2] + ',\n  "traceEvents": [\n'


def _device_annotations(rank):
    """A step on each stream that it had work on, from its first to its last."""
    steps = [r for r in rank.rows if r.name.startswith("ProfilerStep#")]
    starts = [step.start for step in steps]
    calls = {r.args["correlation"]: r.start for r in rank.rows if r.cat == "cuda_runtime"}
    spans = {}
    for row in rank.rows:
        if row.cat not in ("kernel", "gpu_memcpy", "gpu_memset") or row.lane == COMM:
            continue
        launched = calls.get(row.args["correlation"], -1)
        step = bisect_right(starts, launched) - 1
        if step >= 0 and launched < steps[step].end:
            first, last = spans.get((step, row.lane), (row.start, row.end))
            spans[step, row.lane] = (min(first, row.start), max(last, row.end))
    for (step, lane), (first, last) in spans.items():
        args = {"External id": steps[step].args["External id"]}
        yield Row("gpu_user_annotation", steps[step].name, lane, first, last, args)
