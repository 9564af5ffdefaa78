#!/usr/bin/env bash
# The checks of this project, cheap ones first, long ones beside each other; the first failure that is told ends the run.
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

# What needs no environment is begun before there is one, and what is told of it comes when its turn has come.
said=$(mktemp -d)
over() {
    local each
    for each in "$said"/*.pid; do
        [ ! -e "$each" ] || kill -- "-$(cat "$each")" 2>/dev/null || true
    done
    rm -rf "$said"
}
trap over EXIT
# With job control each is a group of processes, which ends as one.
beside() {
    local name=$1
    shift
    set -m
    "$@" >"$said/$name" 2>&1 </dev/null & # a group in the background that asks the terminal would be stopped
    printf '%s\n' $! >"$said/$name.pid"
    set +m
}
ended() {
    local status=0
    wait "$(cat "$said/$1.pid")" || status=$?
    rm "$said/$1.pid"
    cat "$said/$1"
    return $status
}
step() {
    printf '\n== %s\n' "$1"
    shift
    "$@"
}

[ "$what" = check ] || beside labextension tools/build_labextension.sh check
browser=$(tools/browser.sh)
export HASTEGA_BROWSER=$browser
tools/env.sh dev
bin=.venv/bin
# Hundreds of processes and kernels are started, and each would compile the package anew.
unset PYTHONDONTWRITEBYTECODE
# pyright's wrapper would otherwise ask the registry for a newer version; the version is pinned on purpose.
export PYRIGHT_PYTHON_IGNORE_WARNINGS=1

# A minute on one core, so beside what follows.
beside types $bin/pyright
some=
for each in "$@"; do
    case $each in --*) ;; *) some=1 ;; esac
done
# Who collects the tests first has pytest rewrite their asserts, for a quarter of a minute: once, not in each worker.
[ "$some" ] || beside collected $bin/python -m pytest --collect-only -qq
step 'format (ruff)' $bin/ruff format --check --quiet .
step 'lint (ruff)' $bin/ruff check --quiet .
step 'import direction (import-linter)' $bin/lint-imports --no-cache
if [ "$what" = all ]; then
    step 'labextension (types, unit tests, rebuilt and compared)' ended labextension
    beside wheel $bin/python tools/check_wheel.py
fi

# Several files at a time, and one more than there are cores, up to three: most tests compile, on one thread, and some wait
# for a kernel. A crash then ends one worker only, for good: where another took its file again, it could wait forever.
workers=$(($(nproc 2>/dev/null || echo 1) + 1))
workers=$((workers < 3 ? workers : 3))
pytest="$bin/python -m pytest -q"
spread="--numprocesses=$workers --dist=loadfile --max-worker-restart=0"
if [ "$some" ]; then
    step 'tests (pytest)' $pytest $spread "$@"
else
    ended collected >/dev/null || true # what is wrong is told by the tests
    # Those that wait for a browser most of the time have a process of their own.
    beside browser $pytest tests/browser "$@"
    step 'tests (pytest)' $pytest --ignore=tests/browser $spread "$@"
    step 'browser tests (pytest)' ended browser
fi
step 'types (pyright, strict)' ended types
[ "$what" = check ] || step 'wheel (built, installed alone, first cell run)' ended wheel
