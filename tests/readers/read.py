#!/usr/bin/env python3
"""read.py SUMMARY: opens each trace of our summary document in torch_tb_profiler and HTA, and holds
what they find against it."""

import json
import sys


def kernels_of(trace):
    calls = {}
    for row in trace["kernels"]:
        calls[row["name"]] = calls.get(row["name"], 0) + row["calls"]
    return calls


def read_tb(path, trace):
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.data import RunProfileData

    with Cache() as cache:
        data = RunProfileData.parse("worker", "0", path, cache)
        data.process()
    # It takes the device's copy of a step's range for a step of its own.
    steps = [str(step["index"]) for step in trace["steps"]]
    assert sorted(set(data.steps_names), key=int) == steps, (data.steps_names, steps)
    ours = {row["name"] for row in trace["operators"]}
    theirs = {row.name for row in data.op_list_groupby_name}
    assert theirs and theirs <= ours, theirs - ours
    # Its table by operator counts kernels again for the device's copy of a step.
    table = data.kernel_stat
    found = {} if table is None else {name: int(count) for name, count in table["count"].items()}
    assert found == kernels_of(trace), (found, kernels_of(trace))
    return len(theirs)


def read_hta(path, trace):
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_files={trace.get("rank", 0): path})
    (rank,) = analysis.t.get_all_traces()
    assert rank == trace.get("rank", 0), rank
    frame = analysis.t.get_trace(rank)
    names = analysis.t.symbol_table.get_sym_table()
    on_device = frame[frame["stream"] >= 0]
    found = {}
    for name in on_device["name"]:
        found[names[name]] = found.get(names[name], 0) + 1
    steps = len(trace["steps"])
    for name, calls in kernels_of(
        trace
    ).items():  # it leaves out what ends after the last step began
        assert calls * (steps - 1) // steps <= found.get(name, 0) <= calls, (name, found, calls)
    return len(frame)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    assert not document["errors"], document["errors"]
    for trace in document["traces"]:
        path = trace["path"]
        assert trace["report"] == [], (path, trace["report"])
        operators, rows = read_tb(path, trace), read_hta(path, trace)
        print(f"{path}: {operators} operators in torch_tb_profiler, {rows} rows in HTA")
    assert document["traces"]


if __name__ == "__main__":
    main()
