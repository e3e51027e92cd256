#!/usr/bin/env python3
"""Every check of the project as a stage, and who runs them: two at a time, those first that others
wait for. `scripts/test.sh` calls this after the set-up; output goes to build/test/<stage>.log.

    stages.py [--list] [STAGE…]     a named stage brings what it needs; none: all
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("TRACEGLASS_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
LOGS = os.path.join(ROOT, "build", "test")
JOBS = os.cpu_count() or 2
TAIL = 60  # lines of a failed stage's log that are printed
SKIPPED = 77  # exit status of a stage that finds nothing to run on; its last line says why
PYTHON = "build/venv/bin/python"
# What is tested reads its files, and leaves nothing in the user's cache; tests of the index say so.
os.environ["TRACEGLASS_INDEX"] = "off"


@dataclass
class Stage:
    name: str
    command: str
    what: str
    needs: list = field(default_factory=list)
    shared: str = ""  # a folder of ../shared that it runs on; skipped where that is absent
    lock: str = ""  # of stages with one name only one runs at a time
    timeout_s: int = 1500


def preset(name, strict=True):
    """Configures and builds everything. Not strict: g++ 12 warns of what is not there when it
    instruments; the two plain builds say what is."""
    werror = "ON" if strict else "OFF"
    configure = f"cmake --preset {name} -DCMAKE_COMPILE_WARNING_AS_ERROR={werror}"
    return f"{configure} && cmake --build --preset {name} -j {JOBS}"


def ctest(name, without=""):
    """Without: a pattern of tests to leave out. A test that hangs costs itself five minutes."""
    options = "--output-on-failure --no-tests=error --timeout 300"
    if without:
        options += f" -E '{without}'"
    return f"ctest --test-dir build/{name} -j {JOBS} {options}"


def web(name, what, needs=("web-build",)):
    """A script of the page's package.json. Each writes the types anew, so one at a time."""
    script = name.removeprefix("web-")
    command = f"npm run --silent --prefix web_frontend {script}"
    return Stage(name, command, what, list(needs), lock="web")


def unittest(folder):
    return f"PYTHONPATH=tb_backend/tensorboard_plugin {PYTHON} -m unittest discover -s {folder}"


STAGES = [
    Stage("build", preset("dev"), "g++, warnings as errors"),
    Stage("web-build", "scripts/page.sh", "the page", lock="web"),
    Stage("format", "scripts/format.sh --check", "clang-format and ruff"),
    Stage("imports", "python3 scripts/check_imports.py", "direction of includes and imports"),
    Stage("licences", "python3 scripts/check_licences.py", "ours, and of what we ship"),
    Stage(
        "schema", f"{PYTHON} scripts/summary_schema.py --check", "the summary's schema is current"
    ),
    Stage("scripts", unittest("tests/scripts"), "tests of the checks themselves"),
    Stage("plugin", unittest("tests/tensorboard_plugin"), "the TensorBoard plugin's pieces"),
    Stage("unit", ctest("dev"), "C++ tests", ["build"]),
    web("web-lint", "eslint and prettier"),
    web("web-check", "svelte-check and tsc"),
    web("web-test", "vitest"),
    web("web-size", "budget of the built files"),
    Stage("cases", "scripts/cases.sh tests/cases", "our hand-computed cases", ["build"]),
    Stage("package", "tests/package/run.sh", "libtrace installed and used", ["build"]),
    Stage("planted", unittest("tests/planted"), "bottlenecks put there are found", ["build"]),
    Stage("readers", "tests/readers/run.sh", "our traces in other people's readers", ["build"]),
    Stage(
        "stress",
        f"{PYTHON} tests/stress/check.py",
        "too much of one thing: bounded time and memory",
        ["build"],
    ),
    Stage("contract", unittest("tests/contract"), "responses against openapi.yaml", ["build"]),
    Stage("e2e", "node tests/e2e/run.js", "the page in Chromium", ["build", "web-build"]),
    Stage("e2e-ranks", "node tests/e2e/run.js ranks", "all ranks", ["build", "web-build"]),
    Stage(
        "e2e-overview",
        "node tests/e2e/run.js overview",
        "verdicts and the way to their events",
        ["build", "web-build"],
    ),
    Stage(
        "e2e-report",
        "node tests/e2e/run.js report",
        "a report from the disk, without a network",
        ["build", "web-build"],
    ),
    Stage(
        "e2e-live",
        "node tests/e2e/run.js live build/venv",
        "a run in progress, alone and in TensorBoard",
        ["build", "web-build"],
    ),
    Stage(
        "e2e-share",
        "node tests/e2e/run.js share build/venv",
        "pictures, CSV, and any state as a link",
        ["build", "web-build"],
    ),
    Stage(
        "e2e-notes",
        "node tests/e2e/run.js notes",
        "two browsers and their notes",
        ["build", "web-build"],
    ),
    Stage(
        "e2e-metrics",
        "node tests/e2e/run.js metrics",
        "curves, and the way to their profiles",
        ["build", "web-build"],
    ),
    Stage("e2e-trace", "node tests/e2e/run.js trace", "the trace view", ["build", "web-build"]),
    Stage(
        "e2e-trace-large",
        "node tests/e2e/run.js trace_large",
        "the trace view of ten thousand tracks and of many slices",
        ["build", "web-build"],
    ),
    Stage(
        "tensorboard",
        "node tests/e2e/run.js tensorboard build/venv",
        "the tab in the newest TensorBoard",
        ["build", "web-build"],
    ),
    Stage(
        "tensorboard-oldest",
        "node tests/e2e/run.js tensorboard build/venv-oldest",
        "the tab in the oldest TensorBoard",
        ["build", "web-build"],
    ),
    Stage("shared-cases", f"scripts/cases.sh {SHARED}/cases", "further cases", ["build"], "cases"),
    Stage(
        "summary",
        f"{PYTHON} tests/fixtures/check_summaries.py {SHARED}/fixtures",
        "every real trace loads or is named, and the laws hold",
        ["build"],
        "fixtures",
    ),
    Stage(
        "index",
        f"{PYTHON} tests/fixtures/check_index.py {SHARED}/fixtures",
        "every real trace answers the same from its saved index",
        ["build"],
        "fixtures",
    ),
    Stage(
        "distributed",
        f"{PYTHON} tests/fixtures/check_distributed.py {SHARED}/fixtures/param/dlrm_kineto"
        f" {SHARED}/fixtures/torch_2_15/ddp_gloo",
        "eight real ranks and two on Gloo against a plain reading of their files",
        ["build"],
        "fixtures",
    ),
    Stage(
        "verdicts",
        f"{PYTHON} tests/fixtures/check_verdicts.py {SHARED}/fixtures",
        "what real traces are told, as people judged it",
        ["build"],
        "fixtures",
    ),
    Stage(
        "key-averages",
        f"{PYTHON} tests/fixtures/check_key_averages.py {SHARED}/fixtures/torch_2_15",
        "torch's own tables of recorded runs",
        ["build"],
        "fixtures/torch_2_15",
    ),
    Stage(
        "cupti",
        f"{PYTHON} tests/cupti_abi/check.py",
        "offsets and decoder against NVIDIA's headers and library",
    ),
    Stage("clang", preset("clang"), "clang 19, warnings as errors"),
    # g++ 12's does not hold its allocator's locks over a fork: a child of a threaded process that
    # allocates may wait for ever. Those tests run in the plain build and under the other sanitizer.
    Stage(
        "asan",
        f"{preset('asan', strict=False)} && {ctest('asan', without='Fork')}",
        "address and undefined sanitizers",
    ),
    Stage("tsan", f"{preset('tsan', strict=False)} && {ctest('tsan')}", "thread sanitizer"),
    Stage("tidy", "scripts/tidy.sh", "clang-tidy on what changed", ["build"]),
    Stage("wheel", "scripts/wheel.sh --test", "built, installed and run", ["build", "web-build"]),
]


class Runner:
    """Two workers over one list. One lock guards `results` and the choice of the next stage."""

    def __init__(self, stages):
        self.stages = stages
        self.results = {}  # name -> "running", "ok", "FAIL", "skip"
        self.changed = threading.Condition()

    def run(self):
        workers = [threading.Thread(target=self._work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        outcomes = list(self.results.values())
        skipped = outcomes.count("skip")
        more = f", {skipped} skipped" if skipped else ""
        print(f"{outcomes.count('ok')} passed, {outcomes.count('FAIL')} failed{more}")
        return 0 if outcomes.count("FAIL") == 0 else 1

    def _work(self):
        while True:
            with self.changed:
                stage = self._next()
                while stage is None:
                    if all(s.name in self.results for s in self.stages):
                        return
                    self.changed.wait()
                    stage = self._next()
                self.results[stage.name] = "running"
            outcome, seconds, note = self._execute(stage)
            with self.changed:
                self.results[stage.name] = outcome
                print(
                    f"{outcome:5} {stage.name:20} {seconds:7.1f} s  {note or stage.what}",
                    flush=True,
                )
                if outcome == "FAIL" and not note:
                    print_tail(log_of(stage))
                self.changed.notify_all()

    def _next(self):
        for stage in self.stages:
            done = all(self.results.get(name) in ("ok", "FAIL", "skip") for name in stage.needs)
            if stage.name not in self.results and done and stage.lock not in self._held():
                return stage
        return None

    def _held(self):
        running = (s for s in self.stages if self.results.get(s.name) == "running")
        return {stage.lock for stage in running} - {""}

    def _execute(self, stage):
        failed = [name for name in stage.needs if self.results[name] == "FAIL"]
        if failed:
            return "FAIL", 0.0, f"not run: {', '.join(failed)} failed"
        if stage.shared and not os.path.isdir(os.path.join(SHARED, stage.shared)):
            return "skip", 0.0, f"no {os.path.join(SHARED, stage.shared)}"
        started = time.monotonic()
        with open(log_of(stage), "wb") as log:
            log.write(f"$ {stage.command}\n".encode())
            log.flush()
            try:
                code = subprocess.run(
                    ["bash", "-c", f"set -euo pipefail; {stage.command}"],
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=stage.timeout_s,
                ).returncode
            except subprocess.TimeoutExpired:
                log.write(f"\nended after {stage.timeout_s} s\n".encode())
                code = 124
        seconds = time.monotonic() - started
        if code == SKIPPED:
            with open(log_of(stage), errors="replace") as log:
                return "skip", seconds, log.read().splitlines()[-1]
        return ("ok" if code == 0 else "FAIL"), seconds, ""


def log_of(stage):
    return os.path.join(LOGS, f"{stage.name}.log")


def print_tail(path):
    with open(path, errors="replace") as file:
        lines = file.read().splitlines()
    for line in lines[-TAIL:]:
        print(f"      | {line}")
    print(f"      ({path})", flush=True)


def chosen(names):
    """The named stages and all that they need, in the list's order."""
    by_name = {stage.name: stage for stage in STAGES}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        sys.exit(f"no such stage: {', '.join(unknown)}; --list names them")
    wanted, todo = set(), list(names or by_name)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += by_name[name].needs
    return [stage for stage in STAGES if stage.name in wanted]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("stage", nargs="*")
    options = parser.parse_args()
    stages = chosen(options.stage)
    if options.list:
        for stage in stages:
            print(f"{stage.name:20} {stage.what}")
        return 0
    os.makedirs(LOGS, exist_ok=True)
    return Runner(stages).run()


if __name__ == "__main__":
    sys.exit(main())
