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


class Ran:
    def __init__(self, client, code):
        self.outputs = []
        self.reply = client.execute_interactive(code, timeout=60, output_hook=self.outputs.append)["content"]

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


def test_it_says_what_it_is(client):
    client.kernel_info()
    reply = client.get_shell_msg(timeout=30)["content"]
    assert reply["implementation"] == "hastega"
    assert "|>" in reply["banner"]


def test_errors_are_the_users_own(client):
    ran = Ran(client, "ys = [1, 0]\nys |> map(lambda x: 1 // x)")
    assert ran.reply["ename"] == "ZeroDivisionError"
    assert "hastega_magic" not in "".join(ran.reply["traceback"])


def test_a_cell_is_complete_with_its_pipe(client):
    def complete(code):
        client.is_complete(code)
        return client.get_shell_msg(timeout=30)["content"]["status"]

    assert complete("xs |> sum") == "complete"
    assert complete("(xs\n |> map(_ + 1)") == "incomplete"


def test_stages_are_completed(client):
    client.complete("xs |> to_li")
    reply = client.get_shell_msg(timeout=30)["content"]
    assert reply["matches"] == ["to_list"]


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
