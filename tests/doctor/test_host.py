"""What can be found out without loading anything, over files made for the purpose."""

import sys
import tomllib
from pathlib import Path

import pytest

from hastega_magic.doctor import host

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lower_bounds(requirements):
    return dict(each.partition(";")[0].strip().split(">=") for each in requirements)


def test_the_requirements_are_those_of_the_project():
    assert lower_bounds(PROJECT["dependencies"]) == host.REQUIRED
    assert lower_bounds(PROJECT["optional-dependencies"]["pocl"]) == host.POCL_EXTRA


@pytest.mark.parametrize(
    ("version", "oldest", "enough"),
    [
        ("2.0", "2.0", True), ("2.0.0", "2.0", True), ("1.26.4", "2.0", False), ("0.50.0rc1", "0.50", True),
        ("0.5", "0.50", False), ("10.0", "9.1", True), ("", "1.0", False), ("2026.1", "", True),
    ],
)  # fmt: skip
def test_versions_are_compared_as_numbers(version, oldest, enough):
    assert host.Package("x", version, oldest).enough is enough


def test_packages_that_are_there_and_that_are_not():
    found = host.packages()
    assert found["numpy"].enough
    assert set(found) >= {*host.REQUIRED, *host.POCL_EXTRA}
    assert host.folder_of("numpy") is not None
    assert host.folder_of("no_such_package") is None


def test_a_module_that_cannot_be_looked_for_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "odd", object())
    assert host.folder_of("odd") is None


def group(root, name, **files):
    folder = root / "sys/fs/cgroup" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file.replace("__", ".")).write_text(text)


def membership(root, text):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(text)


def test_quota_of_cgroups_2_is_the_least_of_all_groups_above(tmp_path):
    membership(tmp_path, "0::/outer/inner\n")
    group(tmp_path, "outer/inner", cpu__max="400000 100000\n")
    assert host.cpu_quota(tmp_path) == 4
    group(tmp_path, "outer", cpu__max="150000 100000\n")
    assert host.cpu_quota(tmp_path) == 1.5
    group(tmp_path, "outer", cpu__max="max 100000\n")
    assert host.cpu_quota(tmp_path) == 4


def test_quota_of_cgroups_1(tmp_path):
    membership(tmp_path, "5:memory:/x\n3:cpu,cpuacct:/x\n0::/\n")
    group(tmp_path, "cpu,cpuacct/x", cpu__cfs_quota_us="-1\n", cpu__cfs_period_us="100000\n")
    assert host.cpu_quota(tmp_path) is None
    group(tmp_path, "cpu,cpuacct", cpu__cfs_quota_us="200000\n", cpu__cfs_period_us="100000\n")
    assert host.cpu_quota(tmp_path) == 2


@pytest.mark.parametrize("text", ["", "nonsense\n", "0::/gone\n", ":::\n"])
def test_no_quota_where_there_is_none_to_be_read(tmp_path, text):
    membership(tmp_path, text)
    assert host.cpu_quota(tmp_path) is None
    assert host.cpu_quota(tmp_path / "nothing") is None


def test_threads_of_this_process():
    found = host.threads()
    assert 1 <= found.used <= found.cpus
    assert found.affinity >= found.used


def test_the_name_of_the_cpu(tmp_path):
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nmodel name\t: A Fast One @ 3 GHz\n\nmodel name\t: Another\n")
    assert host.cpu_model(file) == "A Fast One @ 3 GHz"
    assert isinstance(host.cpu_model(tmp_path / "none"), str)


def test_the_labextension(tmp_path):
    assert host.labextension([tmp_path]) == ""
    folder = tmp_path / "labextensions" / "hastega_magic"
    folder.mkdir(parents=True)
    assert host.labextension([tmp_path]) == "", "an empty folder is none"
    (folder / "package.json").write_text("{}")
    assert host.labextension([tmp_path / "none", tmp_path]) == str(folder)
    assert isinstance(host.labextension(), str)
