"""A server and a browser for all tests of this folder; skipped, with the reason, where either is missing."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import front as fronts

HERE = Path(__file__).parent
KIND = os.environ.get("HASTEGA_FRONT_KIND", "lab")
READY = """async () => {
  while (!window.jupyterapp) await new Promise(done => setTimeout(done, 50));
  const app = window.jupyterapp;
  await app.restored;
  while (!app.shell.currentWidget?.content?.model?.cells) await new Promise(done => setTimeout(done, 50));
  return app.version;
}"""
# Menus are not clicked: a command's promise says when it is done.
RUN = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
  await window.jupyterapp.commands.execute('notebook:run-all-cells');
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("playwright is not installed: pip install playwright")
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(
                executable_path=fronts.browser_path(), args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
        except Error as error:
            pytest.skip(f"no Chromium was found (apt install chromium): {str(error).splitlines()[0]}")
        yield made
        made.close()


@pytest.fixture(scope="session")
def front(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[fronts.Front]:
    if not (fronts.bin_folder() / f"jupyter-{KIND}").exists():
        pytest.skip(f"jupyter {KIND} is not installed in {fronts.bin_folder()}")
    server = fronts.start(KIND, tmp_path_factory.mktemp("front"))
    yield server
    server.stop()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A new window; the test fails if a script of ours raises in it."""
    made = browser.new_page(viewport={"width": 1400, "height": 1100})
    errors: list[str] = []
    made.on("pageerror", lambda error: errors.append(f"{error}\n{error.stack}"))
    made.set_default_timeout(45_000)
    yield made
    made.close()
    assert [error for error in errors if "hastega" in error] == []


@pytest.fixture(scope="session")
def sample() -> dict[str, Any]:
    """A report that was saved once, with links, sizes and lanes."""
    return json.loads((fronts.ROOT / "labextension" / "test" / "logistic.json").read_text(encoding="utf-8"))


@pytest.fixture
def write(front: fronts.Front) -> Callable[..., str]:
    """Write a notebook of (source, report or None) cells and return its name."""

    def make(name: str, *cells: tuple[str, dict[str, Any] | None], kernel: str = "python3") -> str:
        made = [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "execution_count": None,
                "source": source,
                "outputs": [] if report is None else [_output(report)],
            }
            for number, (source, report) in enumerate(cells)
        ]
        metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
        text = json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
        (front.folder / name).write_text(text, encoding="utf-8")
        return name

    return make


def _output(report: dict[str, Any]) -> dict[str, Any]:
    data = {
        "application/vnd.hastega.report+json": report,
        "text/html": "<b>the static form</b>",
        "text/plain": "the text form",
    }
    return {"output_type": "display_data", "metadata": {}, "data": data}


@pytest.fixture
def open_notebook(front: fronts.Front, page: Any) -> Callable[..., Any]:
    """Open a notebook, and run all its cells if asked to; return the page."""

    def show(name: str, run: bool = False) -> Any:
        page.goto(front.address(name))
        page.evaluate(READY)
        if run:
            page.evaluate(RUN)
        return page

    return show
