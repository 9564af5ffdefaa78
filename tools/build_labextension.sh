#!/usr/bin/env bash
# The front end: installs its node modules, checks types, runs the unit tests, and builds the assets that Jupyter loads.
# Usage: tools/build_labextension.sh [build|check]
#   build (default): writes hastega_magic/labextension, which is committed, so that users need no Node
#   check: builds too, and fails if the result differs from what was there
# Needs Node 20 or newer with npm. A registry other than npm's own is set in npm's configuration, never here.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-build}
built=hastega_magic/labextension
kept=
case $what in
    build | check) ;;
    *)
        printf 'usage: tools/build_labextension.sh [build|check]\n' >&2
        exit 2
        ;;
esac

if ! command -v npm >/dev/null; then
    printf 'error: npm was not found (Debian: apt install nodejs npm)\n' >&2
    exit 1
fi

# The stamp is a copy of the lock file as it was installed: nothing is fetched where nothing changed.
stamp=labextension/node_modules/.hastega-lock
if ! cmp -s labextension/package-lock.json "$stamp"; then
    npm --prefix labextension ci --loglevel=error
    cp labextension/package-lock.json "$stamp"
fi

npm --prefix labextension run --silent check
npm --prefix labextension run --silent test

if [ "$what" = check ]; then
    # Whatever happens, the tree ends as it began.
    kept=$(mktemp -d)
    trap 'rm -rf "$built" && cp -R "$kept/built" "$built" && rm -rf "$kept"' EXIT
    cp -R "$built" "$kept/built"
fi
npm --prefix labextension run --silent build >/dev/null 2>&1 || npm --prefix labextension run build
if [ "$what" = check ]; then
    if ! diff -r "$kept/built" "$built"; then
        printf 'error: %s is not what its sources give: run tools/build_labextension.sh and commit it\n' "$built" >&2
        exit 1
    fi
    printf '%s: as built from its sources, %s bytes\n' "$built" "$(cat "$built"/static/*.js | wc -c)"
else
    # An environment that holds this package holds a copy of the assets: give it the new ones.
    for copy in .venv/share/jupyter/labextensions/hastega-magic; do
        if [ -d "$copy" ]; then
            rm -rf "$copy/static"
            cp -R "$built/." "$copy/"
        fi
    done
fi
