"""Writes a small log directory: two ranks of a training run with everything recorded, hostile
names, and files that are broken, foreign or empty. `small_logdir.py DIR` leaves it to look at."""

import gzip
import json
import os
import sys

from event_files import EventFile

BASE_NS = 1_700_000_000_000_000_000
STEPS = 3
STEP_US = 1000


class Events:
    """Collects rows; times in microseconds from the base, with decimals as Kineto writes them."""

    def __init__(self):
        self.rows = []
        self.correlation = 0

    def slice(self, cat, name, pid, tid, ts, dur, **args):
        row = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
        self.rows.append({**row, "args": args})

    def launch(self, op_ts, name, kernel, ts, dur, device=0, stream=7, cat="kernel", **args):
        """A runtime call on the host and what it starts on the device, with the arrow between."""
        self.correlation += 1
        key = {"correlation": self.correlation}
        self.slice("cuda_runtime", name, 100, 1, op_ts, 4.5, **key)
        self.slice(
            cat, kernel, device, stream, ts, dur, device=device, stream=stream, **key, **args
        )
        arrow = {"id": self.correlation, "cat": "ac2g", "name": "ac2g"}
        self.rows.append({"ph": "s", **arrow, "pid": 100, "tid": 1, "ts": op_ts})
        self.rows.append({"ph": "f", **arrow, "pid": device, "tid": stream, "ts": ts, "bp": "e"})

    def memory(self, ts, addr, size, total, device_type=1, device=0):
        args = {"Total Reserved": 1 << 20, "Total Allocated": total, "Bytes": size, "Addr": addr}
        args |= {"Device Id": device, "Device Type": device_type}
        row = {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]"}
        self.rows.append({**row, "pid": 100, "tid": 1, "ts": ts, "args": args})

    def metadata(self, what, pid, tid, **args):
        self.rows.append({"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0.0, "args": args})


GEMM = "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128<float, 4>>(Params)"
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
HOSTILE = '<img src=x onerror="alert(1)">\u2028"quoted" \\ back'


def add_step(events, number, rank):
    t = float(number * STEP_US)
    shape = {"Input Dims": [[64, 128], [128, 32]], "Input type": ["float", "float"]}
    shapes = {**shape, "Call stack": "train.py(10): step;model.py(5): forward"}
    events.slice("user_annotation", f"ProfilerStep#{number}", 100, 1, t, 990.25)
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    events.slice("user_annotation", loader, 100, 1, t + 5, 95.125)
    events.slice(
        "python_function", "train.py(10): step", 100, 1, t + 110, 700.0, **{"Python id": 1}
    )
    inner = {"Python id": 2, "Python parent id": 1}
    events.slice("python_function", "nn.Module: Linear_0", 100, 1, t + 115, 300.0, **inner)
    events.slice("cpu_op", "aten::linear", 100, 1, t + 120, 200.5, **shapes)
    events.slice("cpu_op", "aten::mm", 100, 1, t + 130, 100.75, **shape)
    events.memory(t + 131, 4096 + number, 8192, 8192 * (number + 1))
    occupancy = {"est. achieved occupancy %": 45, "blocks per SM": 2.5, "warps per SM": 20.0}
    form = {
        "grid": [8, 1, 1],
        "block": [128, 1, 1],
        "registers per thread": 64,
        "shared memory": 1024,
    }
    start = t + 160 + 7 * rank
    events.launch(t + 150, "cudaLaunchKernel", GEMM, start, 210.375, **form, **occupancy)
    copy = "Memcpy HtoD (Pinned -> Device)"
    events.launch(t + 240, "cudaMemcpyAsync", copy, t + 380, 30.0, cat="gpu_memcpy", bytes=4096)
    events.launch(t + 260, "cudaMemsetAsync", "Memset (Device)", t + 412, 2.0, cat="gpu_memset")
    events.slice("cpu_op", HOSTILE, 100, 1, t + 330, 60.0)
    group = {"Collective name": "allreduce", "Process Group Name": "0", "Group size": 2}
    events.slice("cpu_op", "nccl:all_reduce", 100, 1, t + 400, 40.0)
    events.launch(
        t + 410,
        "cudaLaunchKernel",
        NCCL,
        t + 450 + 20 * rank,
        150.0 - 20 * rank,
        stream=20,
        **group,
    )
    events.slice("gpu_user_annotation", f"ProfilerStep#{number}", 0, 7, t + 160, 600.0)
    events.slice("cuda_runtime", "cudaDeviceSynchronize", 100, 1, t + 500, 120.0)
    events.slice("user_annotation", "Optimizer.step#SGD.step", 100, 1, t + 700, 150.0)
    events.slice("cpu_op", "aten::add_", 100, 1, t + 710, 20.0)
    for i in range(40):  # short slices side by side: folded in most tiles
        events.slice("cpu_op", "aten::empty", 100, 2, t + 2 * i, 1.25)
    events.rows.append(
        {
            "ph": "C",
            "name": "GPU Utilization",
            "pid": 0,
            "ts": t,
            "args": {"GPU Utilization": number / 3},
        }
    )


def trace(rank):
    events = Events()
    events.metadata("process_name", 100, 0, name="python")
    events.metadata("process_labels", 100, 0, labels="CPU")
    events.metadata("thread_name", 100, 1, name="thread 1 (python)")
    events.metadata("process_name", 0, 0, name="python")
    events.metadata("process_labels", 0, 0, labels="GPU 0")
    events.metadata("thread_name", 0, 7, name="stream 7 ")
    for number in range(STEPS):
        add_step(events, number + 1, rank)
    device = {"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 85 << 30, "numSms": 108}
    device |= {"maxThreadsPerMultiprocessor": 2048, "computeMajor": 8, "computeMinor": 0}
    return {
        "schemaVersion": 1,
        "deviceProperties": [device],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "record_shapes": 1,
        "profile_memory": 1,
        "with_stack": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": BASE_NS,
        "traceEvents": events.rows,
    }


def timeless():
    """With a kernel that the driver gave no time: it stands before everything else."""
    made = trace(0)
    events = Events()
    events.correlation = 1000
    events.launch(1500, "cudaLaunchKernel", "lost_kernel", 0, 0.0)
    made["traceEvents"] += events.rows
    return made


def refused():
    """A C++ program asked for the device and could not have it: the recorder says why."""
    made = trace(0)
    on_host = ("cpu_op", "user_annotation", "python_function")
    made["traceEvents"] = [r for r in made["traceEvents"] if r.get("cat") in on_host]
    made["deviceProperties"] = []
    made["cupti_error"] = "Another profiler holds CUPTI. GPU work was not recorded."
    made["cupti_advice"] = 'Run without Nsight, cuda-gdb or a second "profiler".'
    return made


def write(path, data, modified_s):
    """Times are given, so that which file is the newest does not depend on the clock."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(gzip.compress(data) if path.endswith(".gz") else data)
    os.utime(path, (modified_s, modified_s))


def add_scalars(folder):
    """Loss of the steps that are profiled, in `run`."""
    with EventFile(folder) as file:
        for step in range(1, STEPS + 1):
            file.scalar(
                "train/loss", step, (BASE_NS / 1e9) + (step + 1) * STEP_US / 1e6, 2.0 / step
            )


def make(root):
    """Fills the directory; returns the files that are no usable trace, with the code of each."""
    now = 1_700_000_000
    wrong = {
        "empty.pt.trace.json": (b"", "empty"),
        "foreign.pt.trace.json": (b'{"nodes": [], "schema": "1.0.1"}', "not_a_trace"),
        "broken.pt.trace.json": (b'{"schemaVersion": }', "broken"),
    }
    for name, (data, _) in wrong.items():
        write(os.path.join(root, "wrong", name), data, now)
    whole = [json.dumps(trace(rank)).encode() for rank in range(2)]
    empty = json.dumps({"schemaVersion": 1, "traceEvents": []}).encode()
    write(os.path.join(root, "other", "quiet.pt.trace.json"), empty, now + 1)
    cut = whole[1][: len(whole[1]) // 2]
    write(os.path.join(root, "other", "cut.pt.trace.json"), cut, now + 2)
    lost = json.dumps(timeless()).encode()
    write(os.path.join(root, "other", "timeless.pt.trace.json"), lost, now + 2)
    write(os.path.join(root, "other", "refused.pt.trace.json"), json.dumps(refused()).encode(), now)
    for rank in range(2):
        name = f"node_{rank}.1700000000000000000.pt.trace.json.gz"
        write(os.path.join(root, "run", name), whole[rank], now + 3)
    add_scalars(os.path.join(root, "run"))
    later = "node_0.1700000009000000000.pt.trace.json.gz"
    write(os.path.join(root, "run", later), whole[0], now + 12)
    return {f"wrong/{name}": code for name, (_, code) in wrong.items()}


if __name__ == "__main__":
    make(sys.argv[1])
