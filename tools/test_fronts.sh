#!/usr/bin/env bash
# The browser tests in the other front ends that the labextension supports, each in an environment of its own.
# Usage: tools/test_fronts.sh [FRONT ...] [-- PYTEST ARGUMENT ...]      FRONT: lab44, notebook7; default: both
# The newest JupyterLab is tried by the ordinary tests. Environments are kept in build/fronts; the package is installed
# into them as a user would install it, from a wheel. Needs a Chromium (HASTEGA_BROWSER names one).
set -euo pipefail
cd "$(dirname "$0")/.."

fronts=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    fronts+=("$1")
    shift
done
[ $# -eq 0 ] || shift
[ ${#fronts[@]} -gt 0 ] || fronts=(lab44 notebook7)

tools/env.sh dev
python=$PWD/.venv/bin/python
for front in "${fronts[@]}"; do
    case $front in
        lab44) kind=lab wanted='jupyterlab==4.4.*' ;;
        notebook7) kind=notebook wanted='notebook>=7,<8' ;;
        *)
            printf 'error: no front end is called %s; there are lab44 and notebook7\n' "$front" >&2
            exit 2
            ;;
    esac
    env=build/fronts/$front
    if ! [ -f "$env/.complete" ]; then
        printf 'making %s with %s\n' "$env" "$wanted"
        rm -rf "$env"
        "$python" -m venv "$env"
        "$env/bin/python" -m pip install -qq --disable-pip-version-check "$wanted"
        touch "$env/.complete"
    fi
    wheels=$(mktemp -d)
    trap 'rm -rf "$wheels"' EXIT
    "$python" -m hatchling build --target wheel --directory "$wheels" >/dev/null 2>&1
    "$env/bin/python" -m pip install -qq --disable-pip-version-check --upgrade "$wheels"/*.whl
    "$env/bin/python" -m pip install -qq --disable-pip-version-check --force-reinstall --no-deps "$wheels"/*.whl
    rm -rf "$wheels"
    printf '\n== %s: %s\n' "$front" "$("$env/bin/jupyter" --version | grep -E '^(jupyterlab|notebook) ' | tr -s ' ' | tr '\n' ' ')"
    HASTEGA_FRONT=$PWD/$env/bin HASTEGA_FRONT_KIND=$kind HASTEGA_INSTALLED=1 \
        "$python" -m pytest tests/browser -q --strict-config "$@"
done
