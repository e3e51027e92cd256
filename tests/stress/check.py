#!/usr/bin/env python3
"""check.py [--full] [CASE…]: what is too much of one thing costs its size and no more.

Each file is loaded by a server of its own, every view of it is asked for, and it is opened again
from its saved index. Held to: seconds and bytes of memory an event (and a start of both), an answer
from every view, the same report both times. Small sizes by default, `--full` those of SIZES.
"""

import argparse
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "contract"))

import extremes  # noqa: E402
from server import Server  # noqa: E402

SMALL = 50  # times less
VIEWS = (
    "meta summary overview critical-path idle operators operators?group=shape kernels memory "
    "modules roofline names events/0 events/1 search?q=aten"
).split()
# A view answers within this and what is linear in the text of the file.
SECONDS, SECONDS_A_MB = 2.0, 0.03
MEMORY, MEMORY_A_BYTE = 150e6, 10.0


def peak_bytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def visit(folder, index, failures, name, size):
    """The report, and what it took: {what: seconds}."""
    server = Server(folder, "--index", index)
    server.timeout = 600
    took, begin = {}, time.monotonic()
    try:
        (run,) = server.ask("/api/runs").json()["runs"]
        trace = run["workers"][0]["spans"][0]["id"]
        status = server.loaded(trace)
        took["load"] = time.monotonic() - begin
        if status["phase"] != "ready":
            return status, took
        meta = None
        for view in VIEWS:
            begin = time.monotonic()
            answer = server.ask(f"/api/traces/{trace}/{view}")
            took[view] = time.monotonic() - begin
            if answer.status not in (200, 404, 422):
                failures.append(f"{name}: {view} is {answer.status}")
            meta = meta or answer.json()
        begin = time.monotonic()
        start, end = meta["range"]["start_ns"], meta["range"]["end_ns"]
        groups = ",".join(str(group["id"]) for group in meta["groups"][:20])
        k = min(52, max(0, (end - start).bit_length() - 9))
        tiles = f"tiles?k={k}&i=0&g={groups}&gen={meta['generation']}"
        for view in (tiles, f"counters?t0={start}&t1={end}&n=500"):
            answer = server.ask(f"/api/traces/{trace}/{view}")
            if answer.status != 200:
                failures.append(f"{name}: {view} is {answer.status}")
        took["tiles"] = time.monotonic() - begin
        peak = peak_bytes(server)
        most = MEMORY + MEMORY_A_BYTE * size
        took["peak MB"] = peak / 1e6
        if peak > most:
            failures.append(f"{name}: {peak / 1e6:.0f} MB of memory, at most {most / 1e6:.0f}")
        return meta["report"], took
    finally:
        server.close()


def check(name, size, failures):
    with tempfile.TemporaryDirectory() as folder:
        traces, index = os.path.join(folder, "logdir"), os.path.join(folder, "index")
        os.mkdir(traces)
        path = os.path.join(traces, "w.pt.trace.json")
        getattr(extremes, name)(path, size)
        bytes_ = os.path.getsize(path)
        most = SECONDS + SECONDS_A_MB * bytes_ / 1e6
        reports = []
        for source in ("file", "index"):
            report, took = visit(traces, index, failures, name, bytes_)
            reports.append(report)
            slow = {what: round(s, 2) for what, s in took.items() if what != "peak MB" and s > most}
            if slow:
                failures.append(f"{name} from its {source}: {slow}, at most {most:.1f} s")
            top = sorted(took.items(), key=lambda item: -item[1])[:4]
            told = ", ".join(f"{what} {value:.2f}" for what, value in top)
            print(f"{name} {size} from its {source}: {bytes_ / 1e6:.0f} MB, {told}", flush=True)
        if reports[0] != reports[1]:
            failures.append(f"{name}: the report from the index is another: {reports}")
        for entry in reports[0] if isinstance(reports[0], list) else [reports[0]]:
            print(f"    {entry}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="the sizes that are promised")
    parser.add_argument("case", nargs="*", default=list(extremes.SIZES))
    options = parser.parse_args()
    failures = []
    for name in options.case:
        size = extremes.SIZES[name]
        check(name, size if options.full else max(1000, size // SMALL), failures)
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{len(options.case)} cases, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
