#!/usr/bin/env bash
# Resolves requirements/*.txt: one set of versions for everybody, with hashes and without registry addresses.
# `--check` fails when the committed locks no longer satisfy the inputs.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}
common=(--universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header
        --no-annotate --no-emit-package fpga-common --quiet)
out=requirements
if [ "${1:-}" = --check ]; then
  out=$(mktemp -d); trap 'rm -rf "$out"' EXIT
  cp requirements/*.txt "$out"/
fi
"$uv" pip compile "${common[@]}" --all-extras services/*/pyproject.toml requirements/dev.in -o "$out/dev.txt"
"$uv" pip compile "${common[@]}" -c "$out/dev.txt" requirements/build.in -o "$out/build.txt"
"$uv" pip compile "${common[@]}" --extra testing -c "$out/dev.txt" services/common/pyproject.toml -o "$out/common.txt"
for service in plugin bitstream-manager web cli; do
  extra=(); [ "$service" = bitstream-manager ] && extra=(--extra postgresql)
  "$uv" pip compile "${common[@]}" "${extra[@]}" -c "$out/dev.txt" "services/$service/pyproject.toml" -o "$out/$service.txt"
done
if [ "${1:-}" = --check ]; then
  diff -rq -x '*.in' requirements "$out" || { echo "locks are stale: run 'make lock' and commit requirements/" >&2; exit 1; }
fi
