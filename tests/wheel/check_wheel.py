#!/usr/bin/env python3
"""check_wheel.py VENV: the installed wheel is whole and brings its own libraries."""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What the manylinux policy takes from the machine.
FROM_THE_MACHINE = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libz.so")
FROM_THE_MACHINE += ("libgcc_s.so", "libstdc++.so")

WHERE = """
import importlib.metadata, os, traceglass_tb
files = importlib.metadata.distribution("traceglass")
points = [p.value for p in files.entry_points if p.group == "tensorboard_plugins"]
print(",".join(points), os.path.dirname(traceglass_tb.__file__))
"""


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def check(what, holds, detail=""):
    print(f"{'ok' if holds else 'FAIL'}  {what}  {detail}".rstrip())
    return holds


def main():
    venv = os.path.abspath(sys.argv[1])
    program = os.path.join(venv, "bin", "traceglass")
    points, package = output(os.path.join(venv, "bin", "python"), "-c", WHERE).split()
    good = [
        check("the entry point", points == "traceglass_tb.plugin:TraceglassPlugin", points),
        check("the page", os.path.isfile(os.path.join(package, "web", "index.js"))),
        check("the program runs", "serve" in output(program, "--help")),
    ]
    lines = output("ldd", os.path.join(package, "bin", "traceglass")).splitlines()
    foreign = [
        line.split()[0]
        for line in lines
        if not line.split()[0].rpartition("/")[2].startswith(FROM_THE_MACHINE)
        and package.rpartition("/")[0] not in os.path.realpath(line.split("=> ")[-1].split(" ")[0])
    ]
    good.append(check("brings its own libraries", not foreign, ", ".join(foreign)))

    os.environ["TRACEGLASS_BIN"] = program
    sys.path.insert(0, os.path.join(ROOT, "tests", "contract"))
    import small_logdir
    from server import Server

    with tempfile.TemporaryDirectory() as folder:
        small_logdir.make(folder)
        server = Server(folder)
        try:
            good.append(check("serves the page", b"<script" in server.ask("/").body))
            good.append(check("serves the runs", len(server.ask("/api/runs").json()["runs"]) == 3))
        finally:
            server.close()
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
