#!/usr/bin/env bash
# wheel.sh [--test]: builds the page, then the wheel (binary, page, plugin) into dist/. --test installs
# it into a fresh environment and runs what a user would.
source "$(dirname "$0")/env.sh"
scripts/setup.sh test
source scripts/env.sh
npm run --silent --prefix web_frontend build >&2
rm -f dist/traceglass-*.whl
"$python" -m build --wheel --outdir dist . >&2
wheel=$(ls dist/traceglass-*.whl)
say "$wheel ($(du -k "$wheel" | cut -f1) kB)"
if [ "${1:-}" = --test ]; then
  rm -rf build/venv-wheel
  python3 -m venv build/venv-wheel
  build/venv-wheel/bin/pip install -q --disable-pip-version-check "$wheel" >&2
  "$python" tests/wheel/check_wheel.py build/venv-wheel
fi
