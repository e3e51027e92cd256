#!/usr/bin/env bash
# test.sh [STAGE…]: set-up, then every check (or the named ones and what they need). Closes with
# `N passed, N failed`, counting stages; logs in build/test/.
source "$(dirname "$0")/env.sh"
if [ "${1:-}" = --list ]; then
  exec python3 scripts/stages.py --list
fi
scripts/setup.sh test
source scripts/env.sh
exec "$python" scripts/stages.py "$@"
