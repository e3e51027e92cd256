#!/usr/bin/env bash
# tidy.sh [BASE [MOST]]: clang-tidy on the C++ sources that differ from BASE (default: where this
# branch left origin/main, else ten commits ago), newest first, at most MOST (default 12) of them: a
# source that includes the large headers takes half a minute. `tidy.sh all` does the whole tree.
source "$(dirname "$0")/env.sh"
build=build/dev
[ -f $build/compile_commands.json ] || cmake --preset dev >/dev/null
most=${2:-12}
if [ "${1:-}" = all ]; then
  base=$(git hash-object -t tree /dev/null) most=100000
else
  base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
  [ -n "$base" ] && [ "$(git rev-parse "$base")" != "$(git rev-parse HEAD)" ] ||
    base=$(git rev-list --max-count=11 HEAD | tail -1)
fi
git diff --name-only --diff-filter=d "$base" -- '*.cc' |
  while read -r file; do
    grep -q "/$file\"" $build/compile_commands.json && printf '%s %s\n' "$(git log -1 --format=%ct -- "$file")" "$file"
  done | sort -rn | head -n "$most" | cut -d' ' -f2- |
  xargs -r -n 1 -P "$(nproc)" clang-tidy-19 -p $build --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v "warnings\\? generated" >&2)
