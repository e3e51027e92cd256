#!/usr/bin/env python3
"""many_ranks.py DIR --ranks N --events E: a training run of N ranks, E events each, in seconds.

Every file is whole and its own: the head says the rank and holds its steps and collectives, with a
straggler that computes longer; the body, compressed once, is the same work for all. Both are
members of one gzip file.
"""

import argparse
import gzip
import json
import os

BASE_NS = 1_700_000_000_000_000_000
STEPS = 10
COLLECTIVES = 40  # a step
STEP_US = 100_000
SLOT_US = 2_000  # of one collective and the work before it
TRANSFER_US = 100
LATE_US = 400


def row(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur} | {
        "args": args
    }


def own_rows(rank, ranks, straggler, collectives):
    for step in range(STEPS):
        begin = step * STEP_US
        yield row("user_annotation", f"ProfilerStep#{step}", 1, 1, begin, STEP_US - 10)
        for c in range(collectives):
            # All but the straggler wait; a little lateness goes around.
            own = (rank * 7 + c * 13) % 50
            late = LATE_US if rank == straggler else own
            end = begin + (c + 1) * SLOT_US
            seq = step * collectives + c
            start = end - TRANSFER_US - LATE_US + late
            args = {"Collective name": "allreduce", "Process Group Name": "0", "Seq": seq}
            args |= {"In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "dtype": "BFloat16"}
            args |= {"Group size": ranks, "device": 0, "stream": 20, "correlation": 10**6 + seq}
            launch = {"correlation": 10**6 + seq}
            yield row("cuda_runtime", "cudaLaunchKernel", 1, 1, start - 50, 5, **launch)
            name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
            yield row("kernel", name, 0, 20, start, end - start, **args)
            if rank == straggler:
                args = {"device": 0, "stream": 7, "correlation": 2 * 10**6 + seq}
                yield row("kernel", "gemm_slow", 0, 7, start - LATE_US, LATE_US - 20, **args)


def common_rows(events):
    """Operators, launches and kernels, spread over the steps."""
    each = STEPS * STEP_US / (events / 3)
    for i in range(events // 3):
        at = round(i * each, 3)
        yield row("cpu_op", f"aten::op{i % 40}", 1, 1, at, round(each * 0.6, 3))
        yield row("cuda_runtime", "cudaLaunchKernel", 1, 1, at + 1, 1.5, correlation=i + 1)
        args = {"correlation": i + 1, "device": 0, "stream": 7, "grid": [64, 1, 1]}
        yield row("kernel", f"gemm_{i % 25}", 0, 7, at + 4, round(each * 0.5, 3), **args)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--collectives", type=int, default=COLLECTIVES, help="a step, at most 45")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    straggler = options.ranks * 2 // 3
    rows = common_rows(max(0, options.events - STEPS * (2 * options.collectives + 1)))
    body = "".join(",\n" + json.dumps(r) for r in rows) + "\n]}\n"
    body = gzip.compress(body.encode(), 1)
    for rank in range(options.ranks):
        head = {"rank": rank, "world_size": options.ranks, "backend": "nccl"}
        own = ",\n".join(
            json.dumps(r) for r in own_rows(rank, options.ranks, straggler, options.collectives)
        )
        text = f'{{"schemaVersion": 1, "distributedInfo": {json.dumps(head)},\n'
        text += f'"baseTimeNanoseconds": {BASE_NS}, "traceEvents": [\n{own}'
        path = os.path.join(options.folder, f"host_{rank}.1700000000.pt.trace.json.gz")
        with open(path, "wb") as file:
            file.write(gzip.compress(text.encode(), 1) + body)


if __name__ == "__main__":
    main()
