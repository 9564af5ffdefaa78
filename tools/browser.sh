#!/usr/bin/env bash
# Prints the path of a Chromium for the tests in tests/browser. Where the system has none, one is fetched with npm, once,
# into build/browser, with the few libraries and the font that a bare system lacks; prints nothing where that fails.
# HASTEGA_BROWSER names one to be taken instead.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${HASTEGA_BROWSER:-}" ]; then
    printf '%s\n' "$HASTEGA_BROWSER"
    exit
fi
for candidate in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$candidate"; then
        exit
    fi
done

package=@sparticuz/chromium@153.0.0
folder=$PWD/build/browser/${package##*@}

fetch() {
    [ "$(uname -sm)" = 'Linux x86_64' ] && command -v node npm >/dev/null || return 1
    npm install --silent --no-save --no-package-lock --prefix "$folder" "$package" >&2 || return 1
    node - "$folder" <<'SCRIPT' || return 1
const [, , folder] = process.argv;
const fs = require("node:fs"), path = require("node:path"), zlib = require("node:zlib");
const bin = path.join(folder, "node_modules", "@sparticuz", "chromium", "bin");
for (const [from, into] of [["chromium.br", "headless"], ["al2023.tar.br", "libraries.tar"], ["fonts.tar.br", "fonts.tar"]])
    fs.writeFileSync(path.join(folder, into), zlib.brotliDecompressSync(fs.readFileSync(path.join(bin, from))));
SCRIPT
    chmod +x "$folder/headless" || return 1
    tar -xf "$folder/libraries.tar" -C "$folder" && tar -xf "$folder/fonts.tar" -C "$folder" fonts || return 1
    rm -rf "$folder"/*.tar "$folder/node_modules"
    cat >"$folder/fonts.conf" <<CONF
<?xml version="1.0"?>
<fontconfig><dir>$folder/fonts</dir><cachedir>$folder/cache</cachedir></fontconfig>
CONF
    cat >"$folder/chromium" <<WRAPPER
#!/bin/sh
here=\$(dirname "\$0")
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_PATH="\$here"
LD_LIBRARY_PATH="\$here/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" exec "\$here/headless" "\$@"
WRAPPER
    chmod +x "$folder/chromium"
}

if ! [ -x "$folder/chromium" ] && ! fetch; then
    printf 'no Chromium was found, and none could be fetched: browser tests will be skipped\n' >&2
    exit
fi
printf '%s\n' "$folder/chromium"
