#!/usr/bin/env python3
"""many_lanes.py OUT [--lanes N] [--slices M] [--streams S] [--seed K]

Writes a gzipped trace of N threads with M slices each, most busy first, one main thread with steps
and S streams of a device: what a page must not stall on. The same seed gives the same bytes.
"""

import argparse
import gzip
import json
import random

STEPS = 20
STEP_US = 5000
NAMES = ["aten::mm", "aten::add_", "aten::copy_", "worker::fetch", "worker::decode", "queue::wait"]
KERNELS = ["gemm_bf16_128x128", "elementwise_kernel", "reduce_kernel", "ncclDevKernel_AllReduce"]


def slice_(category, name, pid, tid, start, length, **args):
    event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid}
    return event | {"ts": round(start, 3), "dur": round(length, 3), "args": args}


def name_of(pid, tid, name):
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def main_thread(pid):
    for step in range(STEPS):
        start = step * STEP_US
        yield slice_("user_annotation", f"ProfilerStep#{step}", pid, pid, start, STEP_US)
        for n in range(20):
            yield slice_("cpu_op", NAMES[n % 3], pid, pid, start + 200 * n + 20, 150)


def threads(pid, lanes, slices, rng):
    end = STEPS * STEP_US
    for lane in range(lanes):
        tid = 1_000_000 + lane
        yield name_of(pid, tid, f"pool-{lane % 64} worker {lane}")
        gap = end / slices
        for n in range(slices):
            length = gap * rng.uniform(0.1, 0.8)
            name = NAMES[rng.randrange(3, len(NAMES))]
            yield slice_("cpu_op", name, pid, tid, n * gap + rng.uniform(0, gap - length), length)


def device(streams, rng):
    for stream in range(streams):
        at = 100.0
        while at < STEPS * STEP_US:
            length = rng.uniform(5, 120)
            args = {"device": 0, "stream": 7 + stream}
            yield slice_("kernel", rng.choice(KERNELS), 0, 7 + stream, at, length, **args)
            at += length + rng.uniform(1, 400)


def write(path, lanes, slices, streams, seed):
    rng = random.Random(seed)
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100"}]}
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 1, raw, 0) as packed:
        put = lambda text: packed.write(text.encode())  # noqa: E731
        put(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        first = True
        for events in (main_thread(100), device(streams, rng), threads(100, lanes, slices, rng)):
            for event in events:
                put(("" if first else ",\n") + json.dumps(event))
                first = False
        put("\n]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out")
    parser.add_argument("--lanes", type=int, default=100_000)
    parser.add_argument("--slices", type=int, default=5)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write(options.out, options.lanes, options.slices, options.streams, options.seed)


if __name__ == "__main__":
    main()
