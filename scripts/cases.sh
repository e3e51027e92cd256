#!/usr/bin/env bash
# cases.sh DIR: runs every case folder of DIR (an input and its expect.json) with the binary
# ($TRACEGLASS_BIN, else build/dev/traceglass, built when absent) and closes with `N passed, N failed`.
called_from=$PWD
source "$(dirname "$0")/env.sh"
[ $# -eq 1 ] || { say "cases.sh DIR"; exit 2; }
directory=$(cd "$called_from" && realpath "$1")
binary=${TRACEGLASS_BIN:-build/dev/traceglass}
if [ ! -x "$binary" ]; then
  scripts/setup.sh build
  cmake --preset dev >&2 && cmake --build --preset dev -j "$(nproc)" --target traceglass >&2
fi
TRACEGLASS_BIN=$(realpath "$binary") exec python3 tests/cases/run_cases.py "$directory"
