#!/usr/bin/env bash
# bench.sh [NAME…]: builds in the release preset and measures; `name  value  limit  ok|over` a line,
# not zero when one is over. Names: `bench.sh --list`.
source "$(dirname "$0")/env.sh"
if [ "${1:-}" != --list ]; then
  scripts/setup.sh test  # a first view needs the browser
  source scripts/env.sh
  cmake --preset release >&2
fi
exec python3 tests/bench/bench.py "$@"
