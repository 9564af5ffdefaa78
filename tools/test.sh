#!/usr/bin/env bash
# The checks of this project, cheap ones first; the first failure ends the run.
# Usage: tools/test.sh [check|all]     check: format, lint, types, imports, tests; all (default): the labextension and the wheel as well
# It is one script so that `make test`, `make check` and .ci/run cannot differ. Extra words after the first go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
shift || true
case $what in
    check | all) ;;
    *)
        printf 'usage: tools/test.sh [check|all] [PYTEST ARGUMENT ...]\n' >&2
        exit 2
        ;;
esac

tools/env.sh dev
bin=.venv/bin
# pyright's wrapper would otherwise ask the registry for a newer version; the version is pinned on purpose.
export PYRIGHT_PYTHON_IGNORE_WARNINGS=1

step() {
    printf '\n== %s\n' "$1"
    shift
    "$@"
}

# The labextension is checked beside the Python sources; what it says is printed when its turn comes.
log=$(mktemp)
beside=
trap 'rm -f "$log"; [ -z "$beside" ] || kill "$beside" 2>/dev/null || true' EXIT
built() {
    local status=0
    wait "$beside" || status=$?
    beside=
    cat "$log"
    return $status
}
if [ "$what" = all ]; then
    tools/build_labextension.sh check >"$log" 2>&1 &
    beside=$!
fi

step 'format (ruff)' $bin/ruff format --check --quiet .
step 'lint (ruff)' $bin/ruff check --quiet .
step 'types (pyright, strict)' $bin/pyright
step 'import direction (import-linter)' $bin/lint-imports --no-cache
if [ "$what" = all ]; then
    step 'labextension (types, unit tests, rebuilt and compared)' built
    step 'wheel (built, installed alone, first cell run)' $bin/python tools/check_wheel.py
fi
# Several files at a time, and one more than there are cores, up to three: most tests compile, on one thread, and some wait
# for a browser or a kernel. A crash then ends one worker only.
workers=$(($(nproc 2>/dev/null || echo 1) + 1))
step 'tests (pytest)' $bin/python -m pytest -q --numprocesses=$((workers < 3 ? workers : 3)) --dist=loadfile "$@"
