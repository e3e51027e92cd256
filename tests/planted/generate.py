#!/usr/bin/env python3
"""Profiles with a planted bottleneck, each beside its clean twin.

    generate.py OUTDIR [--plant NAME] [--strength X] [--seed N] [--stacks]
    generate.py OUTDIR --large SLICES | --ranks N
    generate.py --list

Writes OUTDIR/<case>/{planted,clean}/*.pt.trace.json.gz, one file a rank, and the times of their
steps as the simulation has them to OUTDIR/<case>/truth.txt. NAME is a verdict's id, `mixed` or
`benign`; X the word after it in the case's name. `--large` writes one run with that
many slices, `--ranks` one of so many ranks, the last of them late.
"""

import argparse
import json
import os
import sys
from dataclasses import replace

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chrome  # noqa: E402
import plants  # noqa: E402
import program  # noqa: E402


def chosen(plant="", strength=""):
    cases = [
        case
        for case in plants.CASES.values()
        if (not plant or case.name.split("-", 1)[0] == plant)
        and (not strength or case.name.split("-", 1)[1] == strength)
    ]
    if not cases:
        raise SystemExit("no such case; --list names them")
    return cases


def write_run(options, folder):
    """One run: a file a rank."""
    for rank in program.simulate(options):
        worker = "trainer_4000" if options.world == 1 else f"worker{rank.rank}"
        chrome.write(rank, folder, worker)


def write_case(case, out, seed=1, stacks=False):
    """Both runs; returns, and leaves in `truth.txt`, what removing the plant gains: of a step of a
    long run, since what the empty queue costs the first step of a window nobody gains by a fix."""
    folder = os.path.join(out, case.name)
    change = {"seed": seed, "stacks": stacks or case.planted.stacks}
    planted, clean = replace(case.planted, **change), replace(case.clean, **change)
    write_run(planted, os.path.join(folder, "planted"))
    write_run(clean, os.path.join(folder, "clean"))
    steady = program.steady_step_ns(planted)
    gain = steady - program.steady_step_ns(clean)
    truth = {
        "verdicts": case.verdicts,
        "planted_step_ns": program.mean_step_ns(planted),
        "clean_step_ns": program.mean_step_ns(clean),
        "gain_ns": gain,
        "gains_ns": {verdict: gain for verdict in case.verdicts},
    }
    # Of a mix, what each is worth while the other stays.
    for verdict, options in case.without.items():
        other = program.steady_step_ns(replace(options, **change))
        truth["gains_ns"][verdict] = steady - other
    with open(os.path.join(folder, "truth.txt"), "w") as file:
        json.dump(truth, file, indent=1)
    return truth


def write_large(folder, events):
    """One run of at least so many slices, in which each check has something to find."""
    options = program.Options(
        batch=8,
        loader_us=2_000,
        prologue_us=200,
        items=4,
        item_at_end=True,
        fp32_layers=4,
        pieces=6,
        churn=1,
        python_us=1_000,
        stacks=True,
    )
    rows = sum(row.name != "[memory]" for row in program.simulate(options)[0].rows)
    write_run(replace(options, steps=-(-events * options.steps // rows)), folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--plant", default="")
    parser.add_argument("--strength", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stacks", action="store_true", help="with Python frames and modules")
    parser.add_argument("--large", type=int, metavar="SLICES")
    parser.add_argument("--ranks", type=int, metavar="N")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    cases = chosen(options.plant, options.strength)
    if options.list:
        print("\n".join(case.name for case in cases))
        return
    if not options.out:
        parser.error("where to?")
    if options.large:
        write_large(options.out, options.large)
        return
    if options.ranks:
        late = program.Options(batch=32, world=options.ranks, reduce_us=5_000, late_us=18_000)
        write_run(late, options.out)
        return
    for case in cases:
        truth = write_case(case, options.out, options.seed, options.stacks)
        planted, clean = truth["planted_step_ns"] / 1e6, truth["clean_step_ns"] / 1e6
        gain = truth["gain_ns"] / 1e6
        print(f"{case.name:28} {planted:7.3f} ms a step, {clean:.3f} without; gain {gain:.3f} ms")


if __name__ == "__main__":
    main()
