#!/usr/bin/env bash
# Runs helm, taken from PATH or from the pinned package: tools/helm.sh lint charts/fpga-platform
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python="$here/../.venv/bin/python"
[ -x "$python" ] || python=python3
exec "$python" "$here/kube_tools.py" helm "$@"
