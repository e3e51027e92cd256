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
    """One run: a file a rank. Returns the mean step of rank 0."""
    ranks = program.simulate(options)
    for rank in ranks:
        worker = "trainer_4000" if options.world == 1 else f"worker{rank.rank}"
        chrome.write(rank, folder, worker)
    return program.mean_step_ns(ranks[0])


def write_case(case, out, seed=1, stacks=False):
    """Both runs; returns, and leaves in `truth.txt`, what removing the plant gains."""
    folder = os.path.join(out, case.name)
    change = {"seed": seed, "stacks": stacks or case.planted.stacks}
    planted = write_run(replace(case.planted, **change), os.path.join(folder, "planted"))
    clean = write_run(replace(case.clean, **change), os.path.join(folder, "clean"))
    truth = {"verdicts": case.verdicts, "planted_step_ns": planted, "clean_step_ns": clean}
    truth["gain_ns"] = planted - clean
    # Of a mix, what each is worth while the other stays.
    truth["gains_ns"] = {v: truth["gain_ns"] for v in case.verdicts}
    for verdict, options in case.without.items():
        rank = program.simulate(replace(options, **change))[0]
        truth["gains_ns"][verdict] = planted - program.mean_step_ns(rank)
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
    return write_run(replace(options, steps=-(-events * options.steps // rows)), folder)


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
        step, gain = truth["planted_step_ns"] / 1e6, truth["gain_ns"] / 1e6
        print(f"{case.name:28} step {step:7.3f} ms, without the plant {gain:7.3f} ms less")


if __name__ == "__main__":
    main()
