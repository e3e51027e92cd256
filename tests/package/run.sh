#!/usr/bin/env bash
# run.sh [BUILD]: installs BUILD (default build/dev) and uses it as somebody else would.
source "$(dirname "$0")/../../scripts/env.sh"
build=${1:-build/dev}
work=$root/build/package
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$prefix" --component libtrace >"$work/install.log"

check() {  # check PROGRAM: runs it, and our reader finds a whole trace
  local logs="$work/logs-$(basename "$(dirname "$1")")"
  LD_LIBRARY_PATH=$prefix/lib:$prefix/lib/x86_64-linux-gnu "$1" "$logs"
  "$build/traceglass" summary --format json "$logs" | python3 -c '
import json, sys
traces = json.load(sys.stdin)["traces"]
assert len(traces) == 2, f"{len(traces)} traces"
for trace in traces:
    assert trace["report"] == [], trace["report"]
    assert len(trace["steps"]) == 2, trace["steps"]'
}

for kind in OFF ON; do
  at=$work/static-$kind
  python3 tests/package/pieces.py docs/recording.md "$at/pieces"
  cmake -S tests/package -B "$at" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -Dtraceglass_USE_STATIC_LIBS=$kind >"$at.log"
  cmake --build "$at"
  check "$at/consumer"
  [ ! -x "$at/torch_consumer" ] ||
    LD_LIBRARY_PATH=$prefix/lib:$prefix/lib/x86_64-linux-gnu "$at/torch_consumer"
done

export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name traceglass.pc)")
mkdir "$work/pkg-config"
# shellcheck disable=SC2046
g++ -std=c++17 tests/package/consumer.cc tests/package/without_rtti.cc $(pkg-config --cflags --libs traceglass) -o "$work/pkg-config/consumer"
check "$work/pkg-config/consumer"
echo "installed, found, linked and run: shared, static, pkg-config"
