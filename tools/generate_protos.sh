#!/usr/bin/env bash
# Generates the Python code of every .proto; `--check` fails when the committed code differs.
set -euo pipefail
cd "$(dirname "$0")/.."
protos=services/common/protos
out=services/common/src
[ "${1:-}" = --check ] && { out=$(mktemp -d); trap 'rm -rf "$out"' EXIT; }
PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m grpc_tools.protoc -I "$protos" \
  --python_out="$out" --grpc_python_out="$out" --mypy_out="quiet:$out" --mypy_grpc_out="quiet:$out" \
  $(cd "$protos" && find . -name '*.proto' | sort | sed 's#^\./##')
if [ "${1:-}" = --check ]; then
  (cd "$out" && find . -type f) | while read -r file; do
    cmp -s "$out/$file" "services/common/src/$file" || { echo "generated code is stale: $file; run 'make proto'" >&2; exit 1; }
  done
fi
