#!/usr/bin/env python3
"""bench.py [--list | NAME…]: measures and prints `name  value  limit  ok|over` a line; exits 1 when
one is over. Values are ratios to what is timed in the same run, or bounds that a person feels.

Inputs are real traces of ../shared made larger, or without that folder what the example records.
"""

import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("TRACEGLASS_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
os.environ["TRACEGLASS_INDEX"] = "off"  # what is measured is a load, unless it says otherwise
RELEASE = os.path.join(ROOT, "build", "release")
WORK = os.path.join(ROOT, "build", "bench")
MEGABYTES = 200
RUNS = 5  # of each side, alternately, so that both see the same machine

SOURCES = {
    "v100": "fixtures/HTA/ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
    "h100": "fixtures/TraceLens/traces_h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
}


def build(*targets):
    run("cmake", "--build", "--preset", "release", "-j", str(os.cpu_count()), "--target", *targets)


def run(*command, cwd=ROOT):
    """Standard output of a command; its error output, and that of a build, goes to ours."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def program(name, *arguments):
    return json.loads(run(os.path.join(RELEASE, name), *arguments))


def large_traces():
    """{name: file of at least MEGABYTES of JSON}, made once."""
    sources = {name: os.path.join(SHARED, path) for name, path in SOURCES.items()}
    sources = {name: path for name, path in sources.items() if os.path.exists(path)}
    if not sources:
        build("train_mlp")
        recorded = os.path.join(WORK, "recorded")
        if not glob.glob(f"{recorded}/**/*.pt.trace.json.gz", recursive=True):
            run(os.path.join(RELEASE, "train_mlp"), recorded)
        sources = {"own": min(glob.glob(f"{recorded}/**/*.pt.trace.json.gz", recursive=True))}
    made = {}
    for name, source in sources.items():
        folder = os.path.join(WORK, name)
        made[name] = os.path.join(folder, f"{name}.pt.trace.json.gz")
        if not os.path.exists(made[name]):
            os.makedirs(folder, exist_ok=True)
            temporary = os.path.join(WORK, f"{name}.tmp")
            replicate = os.path.join(ROOT, "tests", "bench", "replicate.py")
            run(sys.executable, replicate, source, temporary, "--megabytes", str(MEGABYTES))
            os.replace(temporary, made[name])
    return made


def bench_load():
    """DESIGN's bound: a load takes at most 3 times the floor, and no more memory than the JSON."""
    build("load_bench", "ingest_floor")
    for name, path in large_traces().items():
        loads, floors = [], []
        for _ in range(RUNS):
            loads.append(program("load_bench", path))
            floors.append(program("ingest_floor", path, "1"))
        seconds = statistics.median(load["seconds"] for load in loads)
        floor = statistics.median(floor["seconds"] for floor in floors)
        raw = floors[0]["bytes"]
        note = f"{seconds:.3f} s for {raw / 1e6:.0f} MB, floor {floor:.3f} s"
        yield f"load.{name}.time_ratio", seconds / floor, 3.0, note
        peak = max(load["peak_bytes"] for load in loads)
        yield f"load.{name}.memory_ratio", peak / raw, 1.0, f"peak {peak / 1e6:.0f} MB"


def bench_scope():
    """A scope costs two clock reads and 3 ns, a disabled one 1 ns; shapes, stacks, many threads."""
    yield from program_lines("scope_bench")


def bench_step():
    """A cycle's end costs the program 50 us and 1 us a lane; recording keeps under its ceiling."""
    yield from program_lines("step_bench")


def bench_write():
    """Ten million events to .gz take 1.3 times what to_chars and ISA-L take for the same bytes."""
    yield from program_lines("write_bench")


def bench_torch():
    """The adapter adds half of what torch's own profiler does to a step; a scope costs less."""
    with open(os.path.join(RELEASE, "CMakeCache.txt")) as file:
        if "TORCH_CPU_LIBRARY:FILEPATH=/" not in file.read():
            print("torch: no libtorch here (Debian: libtorch-dev)", file=sys.stderr)
            return
    yield from program_lines("torch_bench")


def bench_nvtx():
    """An NVTX range costs at most 20 ns more than one of ours, and 15 while nothing records."""
    yield from program_lines("nvtx_bench")


def bench_tile():
    yield from program_lines("tile_bench")


def program_lines(name, *arguments):
    """A program of ours that prints `name value limit` a line."""
    build(name)
    for line in run(os.path.join(RELEASE, name), *arguments).splitlines():
        measured, value, limit = line.split()[:3]
        yield measured, float(value), float(limit), ""


def large_generated():
    """A million slices in which every check has something to find, made once."""
    folder = os.path.join(WORK, "generated")
    if not glob.glob(f"{folder}/*.pt.trace.json.gz"):
        temporary = f"{folder}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        generate = os.path.join(ROOT, "tests", "planted", "generate.py")
        run(sys.executable, generate, temporary, "--large", "1000000")
        os.replace(temporary, folder)
    return glob.glob(f"{folder}/*.pt.trace.json.gz")[0]


def bench_analysis():
    """All analyses of a million slices take a second, a linear one three passes at most."""
    yield from program_lines("analysis_bench", large_generated())


def eight_ranks():
    """The folder of eight real ranks, or of as many generated ones."""
    real = os.path.join(SHARED, "fixtures", "param", "dlrm_kineto")
    if os.path.isdir(real):
        return real
    folder = os.path.join(WORK, "ranks")
    if not os.path.isdir(folder):
        generate = os.path.join(ROOT, "tests", "planted", "generate.py")
        run(sys.executable, generate, f"{folder}.tmp", "--ranks", "8")
        os.replace(f"{folder}.tmp", folder)
    return folder


def server_of(folder):
    """A `traceglass serve` of the release build."""
    sys.path.append(os.path.join(ROOT, "tests", "contract"))
    os.environ["TRACEGLASS_BIN"] = os.path.join(RELEASE, "traceglass")
    from server import Server

    return Server(folder)


def all_ranks(server, run_name, seconds):
    """The answer for all ranks of a run, asked again until every one of them was read."""
    path = "/api/distributed?" + urllib.parse.urlencode({"run": run_name})
    end = time.monotonic() + seconds
    waited = threading.Event()  # never set: only its timeout is used, between two questions
    while time.monotonic() < end:
        answer = server.ask(path)
        if answer.status != 202:
            assert answer.status == 200, answer.body
            return answer.json()
        waited.wait(0.01)
    raise AssertionError(f"the ranks were not read within {seconds} s: {answer.json()}")


def bench_ranks():
    """From the start of a server that knows nothing until all eight ranks are ready, each by itself
    and all of them together."""
    build("traceglass")
    taken = []
    for _ in range(RUNS):
        begin = time.monotonic()
        server = server_of(eight_ranks())
        try:
            runs = server.ask("/api/runs").json()["runs"]
            workers = [worker for found in runs for worker in found["workers"]]
            traces = [span["id"] for worker in workers for span in worker["spans"]]
            for trace in traces:
                server.ask(f"/api/traces/{trace}/status")
            for trace in traces:
                assert server.loaded(trace)["phase"] == "ready", trace
                assert server.ask(f"/api/traces/{trace}/overview").status == 200, trace
            for found in runs:
                told = all_ranks(server, found["name"], 60)
                assert len(told["ranks"]) == len(found["workers"]), told["notes"]
            taken.append(time.monotonic() - begin)
        finally:
            server.close()
    note = f"{len(traces)} ranks, their overviews and the view over all of them"
    yield "ranks.seconds", statistics.median(taken), 2.0, note


def peak_bytes(process):
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) * 1024


def bench_ranks_many():
    """1024 ranks of 50 000 events: the view over them is complete, the server within 2 GiB.
    TRACEGLASS_BENCH_RANKS: fewer of them, to try this out."""
    build("traceglass")
    ranks = int(os.environ.get("TRACEGLASS_BENCH_RANKS", "1024"))
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        many = os.path.join(ROOT, "tests", "bench", "many_ranks.py")
        run(sys.executable, many, os.path.join(folder, "run"), "--ranks", str(ranks))
        begin = time.monotonic()
        server = server_of(folder)
        try:
            told = all_ranks(server, "run", 1800)
            seconds = time.monotonic() - begin
            assert [rank["rank"] for rank in told["ranks"]] == list(range(ranks))
            assert told["unmatched"] == 0 and not told["failed"]
            assert [late["rank"] for late in told["stragglers"]] == [ranks * 2 // 3]
            peak = peak_bytes(server.process)
        finally:
            server.close()
    note = f"{ranks} ranks, {told['matched']} collectives matched, {seconds:.1f} s"
    yield "ranks_many.GiB", peak / 2**30, 2.0, note


def ten_million():
    """A trace of ten million events, made once: the first of the sources, again and again."""
    name, source = next(iter(SOURCES.items()))
    source = os.path.join(SHARED, source)
    if not os.path.exists(source):
        source = next(iter(large_traces().values()))
    folder = os.path.join(WORK, "ten_million")
    made = os.path.join(folder, f"{name}.pt.trace.json.gz")
    if not os.path.exists(made):
        temporary = f"{folder}.tmp"
        replicate = os.path.join(ROOT, "tests", "bench", "replicate.py")
        # Some 230 bytes an event, whichever it is.
        run(sys.executable, replicate, source, temporary, "--megabytes", "2300")
        os.makedirs(folder, exist_ok=True)
        os.replace(temporary, made)
    return made


def bench_reopen():
    """Ten million events: what a load takes in memory, and a trace back from its saved index."""
    build("load_bench", "reopen_bench", "ingest_floor")
    trace, index = ten_million(), os.path.join(WORK, "ten_million", "index")
    load = program("load_bench", trace)
    raw = program("ingest_floor", trace, "1")["bytes"]
    note = f"{load['events']} events, {raw / 1e6:.0f} MB, {load['seconds']:.2f} s"
    yield "reopen.load.memory_ratio", load["peak_bytes"] / raw, 0.5, note
    saved = program("reopen_bench", index, trace, "save")
    yield "reopen.save.seconds", saved["save_ms"] / 1e3, 0.3 * load["seconds"], ""
    warm = [program("reopen_bench", index, trace) for _ in range(RUNS)]
    cold = [program("reopen_bench", index, trace, "cold") for _ in range(RUNS)]
    told, strings = warm[0], warm[0]["string_bytes"]
    note = f"{load['resident_bytes'] / load['events']:.1f} with arguments and strings"
    columns = load["resident_bytes"] - strings - told["arg_bytes"]
    yield "reopen.bytes_an_event", columns / load["events"], 64.0, note
    note = f"{told['index_bytes'] / 1e6:.0f} MB, of it strings {strings / 1e6:.0f}"
    median = statistics.median(r["first_tile_ms"] for r in warm)
    note += f"; open {told['open_ms']:.0f} ms, rows {told['timeline_ms']:.0f} ms"
    yield "reopen.warm.ms", median, 200.0, note
    yield "reopen.cold.ms", statistics.median(r["first_tile_ms"] for r in cold), 1000.0, ""


def bench_listing():
    """2 000 runs of eight workers are listed within a second of a server's start, none opened."""
    build("traceglass")
    folder = os.path.join(WORK, "many_runs")
    if not os.path.isdir(folder):
        many = os.path.join(ROOT, "tests", "bench", "many_runs.py")
        run(sys.executable, many, f"{folder}.tmp")
        os.replace(f"{folder}.tmp", folder)
    first, again = [], []
    for _ in range(RUNS):
        begin = time.monotonic()
        server = server_of(folder)
        try:
            runs = server.ask("/api/runs")
            first.append(time.monotonic() - begin)
            assert len(runs.json()["runs"]) == 2000
            begin = time.monotonic()
            server.ask("/api/runs")
            again.append(time.monotonic() - begin)
        finally:
            server.close()
    note = f"16000 traces, {len(runs.body) / 1e6:.1f} MB"
    yield "listing.first.seconds", statistics.median(first), 1.0, note
    yield "listing.again.seconds", statistics.median(again), 1.0, ""


TENSORBOARD_READS = """
import sys, time
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
start = time.perf_counter()
accumulator = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
accumulator.Reload()
points = sum(len(accumulator.Scalars(tag)) for tag in accumulator.Tags()["scalars"])
print(time.perf_counter() - start, points)
"""


def bench_metrics():
    """Ten million scalars in 200 files: the list in a second, a curve in 100 ms, memory bounded;
    a file at least five times faster than TensorBoard's own Python reader."""
    build("metrics_bench")
    folder = os.path.join(WORK, "metrics")
    if not os.path.isdir(folder):
        program_path = os.path.join(RELEASE, "metrics_bench")
        run(program_path, "make", f"{folder}.tmp")
        os.replace(f"{folder}.tmp", folder)
    told = [program("metrics_bench", folder) for _ in range(RUNS)]
    note = f"{told[0]['points']} points"
    yield "metrics.list.s", statistics.median(t["list_seconds"] for t in told), 1.0, note
    yield "metrics.curve.ms", 1e3 * max(t["curve_seconds"] for t in told), 100, "worst of 20"
    per_point = max(t["peak_bytes"] for t in told) / told[0]["points"]
    yield "metrics.bytes_a_point", per_point, 64, ""
    file = sorted(glob.glob(f"{folder}/run0/*"))[0]
    python = os.path.join(ROOT, "build", "venv", "bin", "python")
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(program("metrics_bench", "read", file))
        theirs.append(run(python, "-c", TENSORBOARD_READS, file).split())
    assert all(int(points) == ours[0]["points"] for _, points in theirs), "points differ"
    fast = statistics.median(o["seconds"] for o in ours)
    slow = statistics.median(float(seconds) for seconds, _ in theirs)
    note = f"{ours[0]['points']} points: {fast * 1e3:.1f} ms, TensorBoard {slow * 1e3:.0f} ms"
    yield "metrics.of_tensorboard", fast / slow, 0.2, note


def bench_first_view():
    """A loaded trace is seen within a second."""
    build("traceglass")
    run(os.path.join(ROOT, "scripts", "page.sh"))
    os.environ["TRACEGLASS_BIN"] = os.path.join(RELEASE, "traceglass")
    for name, path in large_traces().items():
        view = os.path.join(ROOT, "tests", "bench", "first_view.js")
        told = json.loads(run("node", view, os.path.dirname(path)))
        yield f"first_view.{name}.seconds", told["median_ms"] / 1e3, 1.0, ""


def bench_frames():
    """The trace view moves at 60 frames a second (on idle cores; drawn without a graphics card)."""
    build("traceglass")
    run(os.path.join(ROOT, "scripts", "page.sh"))
    os.environ["TRACEGLASS_BIN"] = os.path.join(RELEASE, "traceglass")
    for name, path in large_traces().items():
        view = os.path.join(ROOT, "tests", "bench", "frames.js")
        told = json.loads(run("node", view, os.path.dirname(path)))
        for move in told["moves"]:
            note = f"{told['events']} events, {move['script_ms']:.1f} ms of it script"
            yield f"frame.{name}.{move['key']}.ms", move["gap_ms"], 17.0, note


def bench_notes():
    """50 browsers with notes open, and a hundred thousand notes."""
    build("traceglass")
    script = os.path.join(ROOT, "tests", "bench", "notes.py")
    told = json.loads(run(sys.executable, script, os.path.join(RELEASE, "traceglass")))
    live, many = told["live"], told["many"]
    yield (
        "notes.reach_all.ms",
        live["worst_ms"],
        500,
        f"50 followers, median {live['median_ms']:.1f}",
    )
    yield "notes.core", live["core"], 0.1, "share of a core at four notes a second"
    for name, value in many["list_ms"].items():
        yield f"notes.list.{name.replace(' ', '_')}.ms", value, 50, ""


BENCHES = {
    "load": [bench_load],
    "scope": [bench_scope],
    "step": [bench_step],
    "write": [bench_write],
    "tile": [bench_tile],
    "torch": [bench_torch],
    "nvtx": [bench_nvtx],
    "analysis": [bench_analysis, bench_ranks],
    "ranks-many": [bench_ranks_many],
    "metrics": [bench_metrics],
    "notes": [bench_notes],
    "reopen": [bench_reopen],
    "listing": [bench_listing],
    "record": [bench_scope, bench_step, bench_write, bench_torch, bench_nvtx],
    "first-view": [bench_first_view],
    "frames": [bench_frames],
    "ingest-first": [bench_load, bench_scope, bench_first_view, bench_frames],
}


def main():
    names = sys.argv[1:] or ["ingest-first", "tile"]
    if names == ["--list"]:
        print("\n".join(BENCHES))
        return 0
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        sys.exit(f"no such bench: {', '.join(unknown)}; --list names them")
    os.makedirs(WORK, exist_ok=True)
    over = 0
    for name in names:
        for bench in BENCHES[name]:
            for measured, value, limit, note in bench():
                verdict = "ok" if value <= limit else "over"
                over += verdict == "over"
                print(f"{measured:28}  {value:8.3f}  {limit:6.3f}  {verdict}", flush=True)
                if note:
                    print(f"    {note}", file=sys.stderr, flush=True)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
