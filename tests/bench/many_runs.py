#!/usr/bin/env python3
"""many_runs.py DIR --runs N --workers N: a log directory of many runs, a tiny trace a worker.

What a list of runs costs does not depend on what is in the files, as none is opened.
"""

import argparse
import os

TRACE = '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":1,"dur":1}]}\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=8, help="of each run")
    options = parser.parse_args()
    for run in range(options.runs):
        folder = os.path.join(options.folder, f"experiment_{run // 100}", f"run_{run}")
        os.makedirs(folder, exist_ok=True)
        for worker in range(options.workers):
            name = f"host_{worker}.{1_700_000_000_000 + run}.pt.trace.json"
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(TRACE)


if __name__ == "__main__":
    main()
