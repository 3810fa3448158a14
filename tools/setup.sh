#!/usr/bin/env bash
# Makes .venv with every console script, and fetches the console's browser files. Safe to run again:
# what is up to date is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\033[2m· %s\033[0m\n' "$*" >&2; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

find_python() {
  for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3; do
    if "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      echo "$name"; return
    fi
  done
  fail "Python 3.11, 3.12 or 3.13 is needed, found $(python3 --version 2>&1 || echo none); install it or set PYTHON=/path/to/python3"
}

make_venv() {
  local python=$1
  rm -rf .venv
  if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    "$python" -m venv .venv
  elif command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    say "installing Debian's python3-venv"
    apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
    "$python" -m venv .venv
  else
    fail "$python has no venv module; install it (Debian, Ubuntu: apt-get install python3-venv)"
  fi
}

install_requirements() {
  # uv is ten times faster than pip; where it cannot reach the index (a mirror known to pip only), pip does it.
  local uv_line log
  log=$(mktemp)
  uv_line=$(awk '/^uv==/{on=1} on{print} on&&!/\\$/{exit}' requirements/dev.txt)
  if printf '%s\n' "$uv_line" > .venv/uv.txt \
     && .venv/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r .venv/uv.txt >"$log" 2>&1 \
     && VIRTUAL_ENV="$PWD/.venv" .venv/bin/uv pip sync --quiet --require-hashes requirements/dev.txt >"$log" 2>&1; then
    :
  else
    say "uv could not install ($(tail -n 1 "$log")); using pip"
    .venv/bin/python -m ensurepip --upgrade >/dev/null 2>&1 || true
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
  fi
  rm -f "$log"
}

install_services() {
  for service in common plugin bitstream-manager web cli; do
    VIRTUAL_ENV="$PWD/.venv" .venv/bin/uv pip install --quiet --no-deps --no-build-isolation -e "services/$service"
  done
}

python=$(find_python)
wanted="$("$python" --version) $(cat requirements/dev.txt services/*/pyproject.toml tools/setup.sh | sha256sum) $PWD"
if [ "$(cat .venv/.ready 2>/dev/null)" != "$wanted" ]; then
  say "making .venv with $("$python" --version)"
  make_venv "$python"
  install_requirements
  install_services
  printf '%s' "$wanted" > .venv/.ready
fi
.venv/bin/python tools/fetch_assets.py
