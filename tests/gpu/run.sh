#!/usr/bin/env bash
# run.sh [BUILD]: the GPU tests on a machine that has a device, with the newest CUPTI of build/cupti
# (stage `cupti` fetches it) that its driver bears; then a recording of it for tests/cupti_replay.
# Nothing is downloaded or built here.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev}
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
case ${driver%%.*} in # 580: the first of CUDA 13
  [0-9][0-9] | [1-4][0-9][0-9] | 5[0-7][0-9]) release=12.9.79 ;;
  *) release=13.1.115 ;;
esac
if [ -z "${LIBTRACE_CUPTI_LIB:-}" ] && [ -d "build/cupti/$release" ]; then
  LIBTRACE_CUPTI_LIB=$PWD/$(find "build/cupti/$release" -name 'libcupti.so.1*' | head -1)
  export LIBTRACE_CUPTI_LIB
fi
echo "driver $driver, CUPTI ${LIBTRACE_CUPTI_LIB:-as found}"
"$build/test_gpu"
[ -n "${LIBTRACE_CUPTI_LIB:-}" ] || exit 0
export LIBTRACE_CUPTI_REAL=$LIBTRACE_CUPTI_LIB
export LIBTRACE_CUPTI_RECORD=${OUT:-$build}/gpu.cupti
export LIBTRACE_CUPTI_LIB=$PWD/$build/tests/cupti_replay/libcupti_record.so
"$build/test_gpu" --gtest_filter='Gpu.KernelsAndCopies*'
echo "recorded: $LIBTRACE_CUPTI_RECORD"
