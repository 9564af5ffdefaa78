#!/usr/bin/env bash
# Makes .venv where there is none and installs this package into it, editable, with one of its extras.
# Usage: tools/env.sh EXTRA        (demo, lab, dev, ...; see pyproject.toml)
# PYTHON names the interpreter to make .venv with; without it, the first Python 3.11 or newer that is found.
set -euo pipefail
cd "$(dirname "$0")/.."

extra=${1:?usage: tools/env.sh EXTRA}
venv=.venv
stamp=$venv/.hastega-$extra

fail() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

usable() {
    "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    local candidate
    if [ -n "${PYTHON:-}" ]; then
        usable "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11 or newer with the venv module"
        printf '%s\n' "$PYTHON"
        return
    fi
    for candidate in python3 python python3.14 python3.13 python3.12 python3.11; do
        if usable "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail "no Python 3.11 or newer with the venv module was found (Debian: apt install python3-venv); or set PYTHON"
}

if ! [ -x $venv/bin/python ]; then
    python=$(find_python)
    printf 'making %s with %s\n' "$venv" "$("$python" --version)"
    "$python" -m venv $venv
fi

# What pip is told of indexes and certificates, in its settings or the environment, uv is told too.
setting() {
    local scope found
    for scope in ':env:' install global; do
        found=$(sed -nE "s/^$scope\.$1='(.*)'\$/\1/p" <<<"$settings" | sed 's/\\n/ /g')
        if [ -n "$found" ]; then
            echo $found # one line, however pip lists several
            return
        fi
    done
}

# uv does what pip does in a third of the time; pip does it where uv cannot be had, or fails.
by_uv() {
    local settings index more links certificate constraints
    settings=$($venv/bin/python -m pip config list 2>/dev/null) || return 1
    # What decides where packages come from and is not passed on below is pip's to obey.
    ! grep -qE '\.(no-index|proxy|trusted-host|client-cert)=' <<<"$settings" || return 1
    $venv/bin/python -m pip install -qq --disable-pip-version-check --retries 0 uv >/dev/null 2>&1 || return 1
    index=$(setting index-url) more=$(setting extra-index-url) links=$(setting find-links)
    certificate=$(setting cert) constraints=$(setting constraint)
    [ -z "$index" ] || export UV_DEFAULT_INDEX=$index
    [ -z "$more" ] || export UV_INDEX=$more UV_INDEX_STRATEGY=unsafe-best-match
    [ -z "$links" ] || export UV_FIND_LINKS=${links// /,}
    [ -z "$certificate" ] || export SSL_CERT_FILE=$certificate
    [ -z "$constraints" ] || export UV_CONSTRAINT=$constraints
    $venv/bin/python -m uv pip install --quiet --compile-bytecode --python $venv/bin/python --editable ".[$extra]" 2>/dev/null
}

# The stamp is a copy of pyproject.toml as it was installed: comparing contents survives checkouts and clones.
if ! cmp -s pyproject.toml "$stamp"; then
    printf 'installing hastega-magic[%s] into %s\n' "$extra" "$venv"
    (by_uv) || $venv/bin/python -m pip install -qq --disable-pip-version-check --editable ".[$extra]"
    # Installing compiles what it installs, but not what it leaves where it is: without this, the first cell may wait for it.
    $venv/bin/python -m compileall -q hastega_magic
    cp pyproject.toml "$stamp"
fi
