#!/usr/bin/env bash
# demo.sh [DIR]: set-up, release build and page; without DIR runs the example training program into
# build/demo and serves that, else serves DIR. Prints the address; Ctrl-C ends it. PORT=… chooses one.
called_from=$PWD
source "$(dirname "$0")/env.sh"
scripts/setup.sh build
logdir=${1:-}
[ -z "$logdir" ] || logdir=$(cd "$called_from" && realpath -m "$logdir")
targets=(traceglass)
[ -n "$logdir" ] || targets+=(train_mlp)
cmake --preset release >&2
cmake --build --preset release -j "$(nproc)" --target "${targets[@]}" >&2
scripts/page.sh
if [ -z "$logdir" ]; then
  logdir=build/demo
  [ -n "$(ls -A $logdir 2>/dev/null)" ] || build/release/train_mlp "$logdir" >&2
fi
exec build/release/traceglass serve "$logdir" --port "${PORT:-6006}"
