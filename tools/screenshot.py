"""Make the README's picture of a report: a cell run in JupyterLab, a line under the pointer, all panes lit.

Usage: .venv/bin/python tools/screenshot.py [FILE] [--dark]     FILE: docs/report.png, if not said otherwise

Needs JupyterLab, playwright, Pillow and a Chromium. The figures in the picture are this machine's.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 200_000
"""A README's picture is loaded by everybody who looks: at most so many bytes."""

CELL = """%%hastega --repeat 9
p, mu = 6_700_417, 22
ys = (range(1, 0x2000001)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum"""

RUN = """async theme => {
  while (!window.jupyterapp?.shell.currentWidget?.content?.model?.cells) {
    await new Promise(done => setTimeout(done, 50));
  }
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  await app.commands.execute('apputils:change-theme', { theme });
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
  await app.commands.execute('notebook:run-all-cells');
  app.shell.collapseLeft();
}"""


def main() -> int:
    """Return 0 if the picture was written and is small enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "docs" / "report.png")
    parser.add_argument("--dark", action="store_true", help="JupyterLab's dark theme")
    chosen = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests" / "browser"))
    fronts: Any = importlib.import_module("front")
    with tempfile.TemporaryDirectory(prefix="hastega-picture-") as home:
        front = fronts.start("lab", Path(home))
        try:
            picture = _shoot(front, fronts.browser_path(), dark=chosen.dark)
        finally:
            front.stop()
    picture = _small(picture)
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    chosen.file.write_bytes(picture)
    print(f"{chosen.file}: {len(picture) // 1000} kB")
    if len(picture) > LIMIT:
        print(f"error: more than {LIMIT // 1000} kB", file=sys.stderr)
        return 1
    return 0


def _shoot(front: Any, browser_path: str | None, dark: bool) -> bytes:
    from playwright.sync_api import sync_playwright

    (front.folder / "report.ipynb").write_text(json.dumps(_notebook()), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1200})
        page.goto(front.address("report.ipynb"))
        page.evaluate(RUN, "JupyterLab Dark" if dark else "JupyterLab Light")
        page.wait_for_selector(".hastega-report .hastega-tab")
        # A first run's compile time says little about the cell: the second run is the one that a person looks at.
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait_for_selector(".hastega-report .hastega-tab")
        page.wait_for_timeout(500)
        cell = page.locator(".jp-CodeCell").nth(1)
        cell.evaluate("cell => cell.classList.remove('jp-mod-active', 'jp-mod-selected')")
        cell.locator(".jp-cell-toolbar").evaluate_all("bars => bars.forEach(bar => bar.remove())")
        if cell.locator("[data-mime-type*='error'], [data-mime-type*='stderr']").count():
            raise SystemExit(
                f"error: the cell says: {cell.locator('.jp-OutputArea-output').last.inner_text()}"
            )
        cell.screenshot()  # scrolls, which would move another line under the pointer
        page.locator(".hastega-pane-fused .hastega-line", has_text="= mod ").first.hover()
        page.wait_for_timeout(300)
        shot = cell.screenshot()
        browser.close()
    return shot


def _small(picture: bytes) -> bytes:
    """The picture with a palette, in which rare colours keep their place."""
    from PIL import Image

    out = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            out, "PNG", optimize=True
        )
    return out.getvalue()


def _notebook() -> dict[str, object]:
    def cell(source: str) -> dict[str, object]:
        return {
            "cell_type": "code",
            "id": f"cell-{len(source)}",
            "metadata": {},
            "execution_count": None,
            "source": source,
            "outputs": [],
        }

    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [cell("%load_ext hastega_magic"), cell(CELL)]
    return {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}


if __name__ == "__main__":
    sys.exit(main())
