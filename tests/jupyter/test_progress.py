"""The bar in a terminal and in a real kernel, and the panel in a real kernel: what a front end is sent."""

import os
import queue
import re
import subprocess
import sys
import time

import pytest

from hastega_magic import progress
from hastega_magic.jupyter.progress import Bar
from hastega_magic.progress import listening, task
from hastega_magic.report import MIME

WIDGET = "application/vnd.jupyter.widget-view+json"
SHORT = "%%hastega --no-baseline\ny = range(1000) |> map(lambda x: x + 1) |> sum"


def test_short_work_imports_nothing():
    code = (
        "from IPython.core.interactiveshell import InteractiveShell as S; import sys; s = S.instance(); "
        "s.run_line_magic('load_ext', 'hastega_magic'); "
        f"s.run_cell({SHORT!r} + '\\n'); assert s.user_ns['y'] == 500500; "
        "print([name for name in ('tqdm', 'ipywidgets') if name in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "IPYTHONDIR": os.devnull + "x"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)


def test_a_line_in_a_terminal_that_goes_away(shell, at_once, capsys):
    bar = Bar(shell)
    bar._import()
    with listening(bar), task("parallel", 4) as work:
        work.at(1)
        with task("inner", 2) as inner:
            inner.at(1)
    lines = re.split(r"[\r\n]", capsys.readouterr().err)
    assert any(re.match(r"parallel:  25%\|.*\| 00:00", line) for line in lines)
    assert any(re.match(r"parallel: inner:  38%\|", line) or "37%" in line for line in lines)
    assert lines[-1].strip() == ""


def test_a_bar_begins_anew_with_another_task_and_not_with_another_label(shell, at_once, capsys):
    bar = Bar(shell)
    bar._import()
    with listening(bar):
        with task("calibrate (reading)", 4) as work:
            work.at(2)
            work.label = "calibrate (writing)"
            work.at(3)
        with task("parallel", 4) as work:
            work.at(1)
    seen = re.findall(r"(\S+): +(\d+)%", capsys.readouterr().err)
    assert [int(part) for label, part in seen if label != "parallel"] == [
        0,
        50,
        75,
        0,
    ]  # tqdm shows a bar that begins anew with its last label
    assert [int(part) for label, part in seen if label == "parallel"][-1] == 25


def test_a_cell_shows_how_far_it_is(notebook, at_once, monkeypatch):
    made = Bar.__init__

    def imported_at_once(self, shell):
        made(self, shell)
        self._import()

    monkeypatch.setattr(Bar, "__init__", imported_at_once)
    seen = notebook.run(
        "%%hastega --no-baseline --on simd --repeat 30\ny = range(10**6) |> map(lambda x: x * x % 7) |> sum",
        front_end=False,
    )
    assert re.search(r"simd: +\d+%\|", seen.err)
    seen = notebook.run(SHORT.replace("--no-baseline", "--no-baseline --quiet"), front_end=False)
    assert seen.err == ""
    notebook.run("%hastega on --on simd --repeat 30")
    seen = notebook.run("y = range(10**6) |> map(lambda x: x * x % 7) |> sum", front_end=False)
    notebook.run("%hastega off")
    assert re.search(r"simd: +\d+%\|", seen.err), "quiet by itself"


def test_tqdm_is_imported_in_a_thread_and_the_work_goes_on(shell, at_once):
    bar = Bar(shell)
    with listening(bar), task("work", 1) as work:
        work.at(1)
        assert bar._importing is not None
        bar._importing.join(30)
    bar.close()


def test_a_notebook_without_widgets_has_a_line(shell, at_once, capsys, monkeypatch):
    monkeypatch.setattr(pytest.importorskip("tqdm.notebook"), "IProgress", None)
    monkeypatch.setattr(shell, "kernel", object(), raising=False)
    bar = Bar(shell)
    bar._import()
    with listening(bar), task("work", 2) as work:
        work.at(1)
    bar.close()
    assert re.search(r"work: +50%\|", capsys.readouterr().err)


def test_what_sets_warnings_aside_is_not_imported():
    code = (
        "import sys, types; from hastega_magic.jupyter.progress import Bar; "
        "Bar(types.SimpleNamespace(kernel=object()))._import(); "
        "print([name for name in ('tqdm.auto', 'tqdm.autonotebook', 'tqdm.notebook') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("['tqdm.notebook']", "")


class Kernel:
    """A real kernel, and all that it sends."""

    def __init__(self, manager, client):
        self.manager, self.client = manager, client

    def messages(self, sent, until=lambda message: False, seconds=120):
        """What answers a request, until the kernel is idle or `until` says so."""
        found, ends = [], time.monotonic() + seconds
        while time.monotonic() < ends:
            message = self.client.get_iopub_msg(timeout=seconds)
            if sent is None or message["parent_header"].get("msg_id") == sent:
                found.append(message)
                idle = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
                if until(message) or (idle and sent is not None):
                    return found
        raise AssertionError("the kernel did not answer in time")

    def run(self, code):
        return self.messages(self.client.execute(code))

    def click(self, model):
        """What a front end sends for a click on a button."""
        data = {"method": "custom", "content": {"event": "click"}}
        message = self.client.session.msg("comm_msg", {"comm_id": model, "data": data})
        self.client.shell_channel.send(message)


def displays(messages):
    return [each["content"] for each in messages if each["msg_type"] == "display_data"]


def states(messages):
    """The states of widgets as they were opened, by model."""
    opened = [each["content"] for each in messages if each["msg_type"] == "comm_open"]
    return {content["comm_id"]: content["data"]["state"] for content in opened}


def updates(messages):
    """What widgets were changed to."""
    changed = [each["content"]["data"] for each in messages if each["msg_type"] == "comm_msg"]
    return [data["state"] for data in changed if data.get("method") == "update"]


@pytest.fixture(scope="module")
def kernel(process):
    running = Kernel(*process)
    running.run("%load_ext hastega_magic")
    running.run(SHORT)
    return running


def test_a_short_cell_sends_no_widgets(kernel):
    sent = kernel.run(SHORT)
    assert not [each for each in sent if each["msg_type"].startswith("comm")]
    [display] = displays(sent)
    assert MIME in display["data"]


def test_a_long_cell_shows_a_bar_which_is_gone_at_the_end(kernel):
    cell = (
        "%%hastega --no-baseline --on simd --repeat 100000\n"
        "y = range(10**6) |> map(lambda x: x * 22 % 6_700_417 * x % 10_007) |> sum"
    )
    sent = kernel.client.execute(cell)
    shown = kernel.messages(
        sent, lambda message: any("simd" in str(each.get("value")) for each in updates([message]))
    )
    [bar] = displays(shown)
    assert WIDGET in bar["data"]
    kernel.manager.interrupt_kernel()
    rest = kernel.messages(sent)
    [gone] = [each["content"] for each in rest if each["msg_type"] == "update_display_data"]
    assert gone["data"] == {"text/plain": ""}
    assert gone["transient"] == bar["transient"]
    [error] = [each["content"] for each in rest if each["msg_type"] == "error"]
    assert error["ename"] == "KeyboardInterrupt"
    assert MIME in displays(kernel.run(SHORT))[0]["data"]


def test_the_panel_measures_and_cancels_while_the_kernel_answers(kernel):
    sent = kernel.run(
        "%%hastega --no-baseline --widgets\ntotal = range(1, 100_001) |> map(lambda x: x * 3) |> sum"
    )
    report, panel = displays(sent)
    assert MIME in report["data"]
    assert WIDGET in panel["data"]
    models = states(sent)
    buttons = {state["description"]: model for model, state in models.items() if "button_style" in state}
    assert set(buttons) == {"Measure", "Cancel"}
    kernel.click(buttons["Measure"])
    seen = kernel.messages(
        None, lambda message: any("<table" in str(each.get("value")) for each in updates([message]))
    )
    assert "parallel, " in str(updates(seen)[-1]["value"])
    # A kernel that measures answers other cells.
    kernel.run("p = get_ipython().magics_manager.registry['HastegaMagics'].panel; import dataclasses as d")
    kernel.run(
        "kept = p._kept[0]; columns = {k: d.replace(c, data=range(1, 10**12), source=d.replace(c.source, "
        "length=10**12)) for k, c in kept.workspace.columns.items()}\n"
        "p._kept = [d.replace(kept, length=10**12, workspace=d.replace(kept.workspace, columns=columns))]\n"
        "p.n.max = p.n.value = 10**12"
    )
    kernel.click(buttons["Measure"])
    kernel.messages(
        None, lambda message: any(each.get("value") == "measure: parallel" for each in updates([message]))
    )
    printed = [
        each["content"]["text"] for each in kernel.run("print(p.running)") if each["msg_type"] == "stream"
    ]
    assert printed == ["True\n"]
    kernel.click(buttons["Cancel"])
    rest = kernel.messages(
        None, lambda message: any(each.get("value") == "Cancelled." for each in updates([message]))
    )
    # Nothing of all this touched the outputs of the cell.
    assert not [each for each in rest if each["msg_type"] in ("clear_output", "update_display_data")]
    assert MIME in displays(kernel.run(SHORT))[0]["data"]


def test_a_kernel_that_dies_while_it_measures_leaves_the_report(kernel):
    sent = kernel.run(
        "%%hastega --no-baseline --widgets\ntotal = range(1, 100_001) |> map(lambda x: x * 5) |> sum"
    )
    outputs = displays(sent)
    models = states(sent)
    (measure,) = (model for model, state in models.items() if state.get("description") == "Measure")
    kernel.run(
        "import os, threading; from hastega_magic.jupyter import panel\n"
        "panel.measure = lambda *_, **__: os._exit(1)"
    )
    kernel.click(measure)
    later = {message["msg_type"] for message in until_death(kernel)}
    assert not later & {"clear_output", "update_display_data", "error"}
    # What the notebook holds is what was displayed: the whole report, scriptless, and the panel's line of text.
    assert "<details" in outputs[0]["data"]["text/html"]
    assert "hastega_magic.measure()" in outputs[1]["data"]["text/plain"]


def until_death(kernel):
    """What the kernel still sends."""
    found, ends = [], time.monotonic() + 30
    while time.monotonic() < ends:
        try:
            found.append(kernel.client.get_iopub_msg(timeout=0.2))
        except queue.Empty:
            if not kernel.manager.is_alive():
                return found
    raise AssertionError("the kernel lives")
