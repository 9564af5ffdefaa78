#!/usr/bin/env bash
# The front end: installs its node modules, checks types, runs the unit tests, and builds the assets that Jupyter loads.
# Usage: tools/build_labextension.sh [build|check]
#   build (default): writes hastega_magic/labextension, which is committed, so that users need no Node
#   check: builds in a copy, and fails if the result differs from what is there
# Needs Node 20 or newer with npm. A registry other than npm's own is set in npm's configuration, never here.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-build}
built=hastega_magic/labextension
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

sources=labextension
if [ "$what" = check ]; then
    # Built in a copy: others read the tree meanwhile.
    mkdir -p build
    copy=$(mktemp -d "$PWD/build/labextension.XXXXXX")
    trap 'rm -rf "$copy"' EXIT
    sources=$copy/labextension
    mkdir "$copy/hastega_magic"
    cp -al labextension "$sources" 2>/dev/null || { rm -rf "$sources" && cp -RP labextension "$sources"; }
fi
npm --prefix "$sources" run --silent check
npm --prefix "$sources" run --silent test
npm --prefix "$sources" run --silent build >/dev/null 2>&1 || npm --prefix "$sources" run build
if [ "$what" = check ]; then
    if ! diff -r "$built" "$copy/$built"; then
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
