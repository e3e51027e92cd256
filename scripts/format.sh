#!/usr/bin/env bash
# format.sh [--check]: formats C++ and Python in place, or says what is not formatted. The page has
# its own: npm run format.
source "$(dirname "$0")/env.sh"
cpp=(-i) py=()
if [ "${1:-}" = --check ]; then
  cpp=(--dry-run -Werror) py=(--check)
fi
git ls-files -z --cached --others --exclude-standard '*.cc' '*.h' |
  xargs -0 -r -n 20 -P 2 clang-format-19 "${cpp[@]}"
"$python" -m ruff format -q "${py[@]}" .
"$python" -m ruff check -q .
