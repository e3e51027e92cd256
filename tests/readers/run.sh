#!/usr/bin/env bash
# run.sh [BUILD]: writes traces and opens each in torch_tb_profiler, HTA and our own reader.
source "$(dirname "$0")/../../scripts/env.sh"
build=${1:-build/dev}
work=$root/build/readers
rm -rf "$work"
mkdir -p "$work"
LIBTRACE_CUPTI_LIB=$root/$build/tests/fakes/13/libcupti.so "$build/write_samples" "$work/everything"
"$build/train_mlp" "$work/example" 50 >"$work/train_mlp.log"
"$build/traceglass" summary --format json "$work/everything" "$work/example" >"$work/summary.json"
build/venv-readers/bin/python tests/readers/read.py "$work/summary.json"  >"$work/read.log" 2>&1 ||
  { tail -30 "$work/read.log"; exit 1; }
grep " rows in HTA" "$work/read.log"
