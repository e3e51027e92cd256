#!/usr/bin/env bash
# setup.sh [page|build|test]: installs what is missing, quietly and at once when nothing is. `page` is
# Node and the page's packages; `build` (the default) adds what demo.sh needs, `test` what only test.sh
# does. Debian 12; sudo only when not root.
source "$(dirname "$0")/env.sh"
what=${1:-build}

packages=(g++ cmake ninja-build ccache pkg-config python3
  libsimdjson-dev nlohmann-json3-dev libfmt-dev libcli11-dev libprotobuf-dev protobuf-compiler
  zlib1g-dev libdeflate-dev libisal-dev libre2-dev libxxhash-dev libcpp-httplib-dev
  libsqlite3-dev libgtest-dev libgmock-dev)
test_packages=(git python3-venv clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev chromium
  libtorch-dev nginx openssl)

install_packages() {
  local missing=()
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -o DPkg::Lock::Timeout=400)
  say "Installing ${missing[*]}"
  "${apt[@]}" update >&2
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2
}

# True when `node` on PATH is at least 20.19.
node_is_new() {
  local version
  version=$(node --version 2>/dev/null) || return 1
  printf 'v20.19\n%s\n' "$version" | sort -V -C
}

# Node as npm's package `node`, which holds the program itself. An old npm is enough to fetch it.
install_node() {
  command -v npm >/dev/null || install_packages npm
  say "Installing Node 20 into build/node"
  npm install --prefix build/node --no-save --no-audit --no-fund --loglevel=error node@20 npm@10 >&2
  export PATH="$root/build/node/node_modules/node/bin:$root/build/node/node_modules/.bin:$PATH"
}

# Runs `command…` when `stamp` does not hold the checksum of `input`.
when_changed() {
  local stamp=$1 input=$2 sum
  shift 2
  sum=$(sha256sum "$input" | cut -d' ' -f1)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ] && return
  rm -f "$stamp"
  "$@"
  printf '%s' "$sum" >"$stamp"
}

install_page() {
  say "Installing the page's packages"
  npm ci --prefix web_frontend --no-audit --no-fund --loglevel=error >&2
}

# install_venv FOLDER REQUIREMENTS
install_venv() {
  say "Installing Python packages of $2"
  rm -rf "$1"
  python3 -m venv "$1"
  "$1/bin/pip" install -q --disable-pip-version-check -r "$2" >&2
}

case $what in
  page) ;;
  build) install_packages "${packages[@]}" ;;
  test) install_packages "${packages[@]}" "${test_packages[@]}" ;;
  *) say "setup.sh [page|build|test]"; exit 2 ;;
esac
mkdir -p build
node_is_new && command -v npm >/dev/null || install_node
when_changed web_frontend/node_modules/.traceglass web_frontend/package-lock.json install_page
if [ "$what" = test ]; then
  when_changed build/venv/.traceglass tests/requirements.txt \
    install_venv build/venv tests/requirements.txt
  when_changed build/venv-oldest/.traceglass tests/requirements-oldest.txt \
    install_venv build/venv-oldest tests/requirements-oldest.txt
  when_changed build/venv-readers/.traceglass tests/readers/requirements.txt \
    install_venv build/venv-readers tests/readers/requirements.txt
fi
