# Sourced by every script: where the tree is, and Node from the build folder where the machine's own
# is too old or absent.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
if [ -x "$root/build/node/node_modules/node/bin/node" ]; then
  export PATH="$root/build/node/node_modules/node/bin:$root/build/node/node_modules/.bin:$PATH"
fi
python=$root/build/venv/bin/python

say() { printf '%s\n' "$*" >&2; }
