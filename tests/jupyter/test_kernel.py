"""The kernel "Python 3 (Hastega)", through a real client."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "hastega").mkdir()
    shutil.copy(ROOT / "kernelspec" / "kernel.json", folder / "hastega")
    manager = KernelManager(
        kernel_name="hastega", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(folder)])
    )
    ipython = tmp_path_factory.mktemp("ipython")
    manager.start_kernel(extra_arguments=[f"--ipython-dir={ipython}", "--HistoryManager.enabled=False"])
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def answer(client, request):
    """What the kernel replies to a request, by its identifier: a busy one replies late to those before it, too."""
    while True:
        message = client.get_shell_msg(timeout=30)
        if message["parent_header"]["msg_id"] == request:
            return message["content"]


class Ran:
    def __init__(self, client, code, **how):
        self.outputs = []
        self.reply = client.execute_interactive(code, timeout=60, output_hook=self.outputs.append, **how)[
            "content"
        ]

    def of(self, kind):
        return [each["content"] for each in self.outputs if each["msg_type"] == kind]

    @property
    def value(self):
        return self.of("execute_result")[0]["data"]["text/plain"]


def test_pipes_work_in_every_cell(client):
    ran = Ran(client, "xs = [1, 2, 3]\nxs |> map(lambda x: x * x) |> sum")
    assert ran.reply["status"] == "ok"
    assert ran.value == "14"
    assert ran.of("display_data") == []
    assert Ran(client, "_ + 1").value == "15"
    assert Ran(client, "%%hastega --no-baseline\nxs |> sum").of("display_data")


def test_pipes_work_again_after_a_reload(client):
    Ran(client, "%reload_ext hastega_magic")
    assert Ran(client, "[1, 2] |> sum").value == "3"
    Ran(client, "%unload_ext hastega_magic")
    assert Ran(client, "[1, 2] |> sum").reply["ename"] == "SyntaxError"
    Ran(client, "%load_ext hastega_magic")
    assert Ran(client, "[1, 2] |> sum").value == "3"


def test_a_value_is_shown_where_ipython_would(client):
    Ran(client, "xs = [1, 2, 3]")
    assert Ran(client, "xs |> sum").value == "6"
    for quiet in ("xs |> sum;", "%%timeit -n2 -r2\nxs |> sum", "ys = xs |> sum"):
        assert Ran(client, quiet).of("execute_result") == []
    assert Ran(client, "xs |> sum", silent=True).of("execute_result") == []
    assert Ran(client, "xs |> sum", store_history=False).value == "6"
    assert Ran(client, "%%time\nxs |> sum").value == "6"
    assert Ran(client, "ys = %time xs |> sum\nys").value == "6"
    assert Ran(client, "%%capture seen\nxs |> sum").of("execute_result") == []
    assert Ran(client, "[each.data for each in seen.outputs]").value == "[{'text/plain': '6'}]"
    assert Ran(client, "files = !echo a\nfiles |> len").value == "1"


def test_what_a_cell_awaits(client):
    text = "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\n"
    assert Ran(client, f"{text}await asyncio.sleep(0)\n[1, 2] |> map(_ + 1) |> sum").value == "5"
    assert Ran(client, "ys = [await f(n) for n in range(3)] |> map(_ * 2)\nys |> sum").value == "6"
    assert Ran(client, "(await f([1, 2])) |> sum").value == "3"
    ran = Ran(client, "try:\n    await f(nowhere)\nexcept NameError:\n    n = [1, 2] |> sum\nn")
    assert ran.value == "3"
    ran = Ran(client, "await f(1)\n[1, 0] |> map(lambda x: 1 // x)")
    assert ran.reply["ename"] == "ZeroDivisionError"
    assert "hastega_magic" not in "".join(ran.reply["traceback"])
    ran = Ran(client, "%%hastega\nawait f(1)\n[1] |> sum")
    assert "a cell awaits under `%hastega on`" in ran.reply["evalue"]
    ran = Ran(client, "n = await f(1)\n[1] |> map(lambda x: await f(x))")
    assert ran.reply["evalue"].startswith("'await' outside async function (")
    assert ran.reply["evalue"].endswith("line 2)")


@pytest.mark.parametrize("body", ["range(10**12) |> map(_ * 3 % 7) |> sum", "1 |> str\ntime.sleep(50)"])
def test_where_a_cell_that_awaits_computes_it_is_interrupted(client, body):
    text = "import asyncio, os, signal, threading, time\nawait asyncio.sleep(0)\n"
    later = "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
    ran = Ran(client, text + later + body)
    assert ran.reply["ename"] == "KeyboardInterrupt"
    assert "hastega_magic" not in "".join(ran.reply["traceback"])
    assert (
        Ran(client, "await asyncio.sleep(0)\nsignal.getsignal(signal.SIGINT).__module__").value
        == "'ipykernel.ipkernel'"
    )
    assert Ran(client, "signal.getsignal(signal.SIGINT) is signal.default_int_handler").value == "True"


def test_it_says_what_it_is(client):
    reply = answer(client, client.kernel_info())
    assert reply["implementation"] == "hastega"
    assert "|>" in reply["banner"]


def test_errors_are_the_users_own(client):
    ran = Ran(client, "ys = [1, 0]\nys |> map(lambda x: 1 // x)")
    assert ran.reply["ename"] == "ZeroDivisionError"
    assert "hastega_magic" not in "".join(ran.reply["traceback"])


def test_a_cell_is_complete_with_its_pipe(client):
    def complete(code):
        return answer(client, client.is_complete(code))["status"]

    assert complete("xs |> sum") == "complete"
    assert complete("(xs\n |> map(_ + 1)") == "incomplete"
    assert complete("xs\n  |> sum") == "complete"


def test_stages_are_completed(client):
    assert answer(client, client.complete("xs |> to_li"))["matches"] == ["to_list"]
    Ran(client, "def mapped(xs): return xs")
    assert answer(client, client.complete("xs |> map"))["matches"] == ["map", "mapped"]


def test_stages_are_explained(client):
    def inspect(code):
        reply = answer(client, client.inspect(code, len(code)))
        return reply["data"].get("text/plain", "") if reply["found"] else ""

    assert inspect("xs |> window").startswith("window(n)")
    assert "A stage (element): f of each element" in inspect("xs |> map(")
    assert inspect("xs |> take(3) |> map(abs(_) + 1, ").startswith("map(f)")
    assert "Built-in" in inspect("sum") or "Return the sum" in inspect("sum")
    assert "f of each element" not in inspect("x = '|> map")


def test_the_kernelspec_comes_with_the_wheel(tmp_path):
    builder = pytest.importorskip("hatchling.builders.wheel")
    [wheel] = builder.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        [name] = [
            each for each in archive.namelist() if each.endswith("share/jupyter/kernels/hastega/kernel.json")
        ]
        spec = json.loads(archive.read(name))
    assert spec["display_name"] == "Python 3 (Hastega)"
    assert spec["argv"][:3] == ["python", "-m", "hastega_magic.jupyter.kernel"]


@pytest.mark.parametrize("end", ["", ";", "\nNone"])
def test_what_a_cell_prints_stands_above_its_value_and_its_report(client, end):
    cell = f"%%hastega --no-baseline\nprint('printed', end='')\nxs = [1, 2, 3]\ntotal = xs |> sum\ntotal{end}"
    ran = Ran(client, cell)
    kinds = [each["msg_type"] for each in ran.outputs]
    shown = [each for each in kinds if each in ("stream", "execute_result", "display_data")]
    assert shown == ["stream", *([] if end else ["execute_result"]), "display_data"]
    assert ran.of("stream")[0]["text"] == "printed"


def test_displays_after_the_report_wait_for_the_streams_again(client):
    Ran(client, "%%hastega --no-baseline\n[1, 2, 3] |> sum")
    ran = Ran(client, "from IPython.display import display\nprint('first', end='')\ndisplay(1)")
    assert [each["msg_type"] for each in ran.outputs if each["msg_type"] in ("stream", "display_data")] == [
        "stream",
        "display_data",
    ]
