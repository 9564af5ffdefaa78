"""The command line over real loaders and drivers, some of them spoilt with variables and folders."""

import json
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from hastega_magic.__main__ import main
from hastega_magic.doctor.findings import _wheel_folder, gather
from hastega_magic.doctor.host import folder_of
from hastega_magic.doctor.icd import icd_files, search

DRIVER = "void *clGetExtensionFunctionAddress(const char *name) { return 0; }\n"
POCL = next(iter((folder_of("pyopencl") or Path()).glob(".libs/libpocl*")), None)
needs_pocl = pytest.mark.skipif(POCL is None, reason="PoCL from PyPI is not installed")


def examined(done):
    """The JSON of a run that ended well or told of problems, by id."""
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert data["ok"] is (done.returncode == 0)
    return data, {problem["id"]: problem for problem in data["problems"]}


def listed(folder):
    """The .icd files that a loader reads there."""
    found = icd_files(search({"OCL_ICD_VENDORS": str(folder)}, None, None), ())
    return [file for file in found if file.is_read]


def test_without_a_command_usage_is_printed(capsys):
    assert main([]) == 0
    assert "doctor" in capsys.readouterr().out


def test_help_says_what_the_exit_status_means(doctor):
    text = doctor("--help").stdout
    assert "exit status:" in text
    assert "--json" in text


@pytest.mark.parametrize("arguments", [["--on", "cuda"], ["--on", "parallel,opncl"], ["--frobnicate"]])
def test_a_wrong_command_line(doctor, arguments):
    done = doctor(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


@needs_pocl
def test_this_machine(doctor):
    data, found = examined(doctor("--json"))
    assert {trial["backend"]: trial["state"] for trial in data["trials"]}["opencl:0"] == "works"
    assert not any(problem["level"] == "error" for problem in found.values())
    facts = data["facts"]
    assert facts["opencl"]["loaders"]
    assert any(file["library"] == POCL.name and not file["trouble"] for file in facts["icd"])
    assert facts["opencl"]["devices"][0]["driver"]
    assert facts["cpu"]["targets"]


@needs_pocl
def test_this_machine_in_an_encoding_without_marks(doctor):
    done = doctor(PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.startswith("hastega doctor: everything that is needed works")
    assert "+ parallel" in done.stdout
    assert "+ opencl:0" in done.stdout
    assert "marked !" in doctor("--help", PYTHONIOENCODING="ascii").stdout


@needs_pocl
def test_the_variable_names_nothing(doctor, tmp_path):
    data, found = examined(doctor("--json", OCL_ICD_VENDORS=tmp_path / "none"))
    assert data["ok"] is False
    assert set(found) == {"vendors-missing"}


@needs_pocl
def test_a_stale_icd_file(doctor, vendors):
    folder = vendors(gone="libgone-from-here.so.1")
    data, found = examined(doctor("--json", OCL_ICD_VENDORS=folder))
    assert (data["ok"], found["icd-stale"]["level"]) == (True, "warning")
    assert found["icd-stale"]["mend"] == [f"mv {folder}/gone.icd {folder}/gone.icd.off"]
    subprocess.run(found["icd-stale"]["mend"][0], shell=True, check=True)
    assert listed(folder) == [], "the command mends it"
    (folder / "alone.icd").write_text("libgone-from-here.so.1\n")
    data, found = examined(doctor("--json", OCL_ICD_VENDORS=folder / "alone.icd"))
    assert (data["ok"], found["icd-library"]["level"]) == (False, "error")


@needs_pocl
def test_pocl_is_listed_twice(doctor, vendors):
    _, found = examined(doctor("--json", OCL_ICD_VENDORS=vendors(again=POCL)))
    assert "pocl-twice" in found
    assert found["pocl-twice"]["mend"] == ["unset OCL_ICD_VENDORS"]


@needs_pocl
def test_pocls_cache_cannot_be_made(doctor, tmp_path):
    (tmp_path / "file").touch()
    data, found = examined(doctor("--json", POCL_CACHE_DIR=tmp_path / "file" / "kcache"))
    assert (data["ok"], found["pocl-cache"]["level"]) == (False, "error")
    assert "file is not a folder" in found["pocl-cache"]["text"]
    assert examined(doctor("--json", POCL_CACHE_DIR=tmp_path / "fresh"))[0]["ok"] is True


@needs_pocl
def test_a_driver_that_crashes_takes_nothing_with_it(doctor, vendors, compiled):
    crash = "#include <stdlib.h>\n__attribute__((constructor)) void f(void) { abort(); }\n"
    folder = vendors(crash=compiled("libcrash.so", crash + DRIVER))
    data, found = examined(doctor("--json", OCL_ICD_VENDORS=folder))
    assert data["ok"] is False
    assert "crashed (SIGABRT) at: listing OpenCL devices" in found["driver-crash"]["text"]
    assert "crashed (SIGABRT)" in found["icd-library"]["text"]
    assert {trial["backend"]: trial["state"] for trial in data["trials"]}["parallel"] == "works"


@needs_pocl
def test_nvidias_library_without_an_icd_file(doctor, vendors, compiled):
    library = compiled("libnvidia-opencl.so.1", DRIVER)
    folder = vendors()
    _, found = examined(doctor("--json", OCL_ICD_VENDORS=folder, LD_LIBRARY_PATH=library.parent))
    assert found["nvidia-no-icd"]["mend"] == [
        f"mkdir -p {folder} && echo libnvidia-opencl.so.1 > {folder}/nvidia.icd"
    ]
    subprocess.run(found["nvidia-no-icd"]["mend"][0], shell=True, check=True)
    assert (folder / "nvidia.icd").read_text() == "libnvidia-opencl.so.1\n"
    assert [file.nvidia for file in listed(folder)] == [True], "the command mends it"


# ------------------------------------------------------------------------- with other packages installed


@pytest.fixture
def alone(tmp_path):
    """A function: this Python with our package, and of all others only those that are named, as links."""
    site = tmp_path / "site"
    site.mkdir()
    stdlib = [sysconfig.get_path("stdlib"), sysconfig.get_config_var("DESTSHARED")]

    def python(*names):
        for name in names:
            # With the libraries that wheels keep beside the package: numpy.libs.
            for file in metadata.files(name):
                link(name, file.parts[0])
        link_to(Path(__file__).parents[2] / "hastega_magic")
        path = [*stdlib, str(site)]
        run = "runpy.run_module('hastega_magic', run_name='__main__', alter_sys=True)"
        start = f"import runpy, sys; sys.path[:] = {path}; {run}"
        return (sys.executable, "-I", "-S", "-c", start)

    def link(name, top):
        if top != "..":
            link_to(Path(metadata.distribution(name).locate_file(top)))

    def link_to(target):
        if not (site / target.name).exists():
            (site / target.name).symlink_to(target)

    python.link_to = link_to
    python.site = site
    return python


def test_without_pyopencl_and_without_ipython(doctor, alone):
    python = alone("numpy", "llvmlite")
    data, found = examined(doctor("--json", python=python))
    assert data["ok"] is True
    assert data["needed"] == ["python", "numpy", "simd", "parallel"]
    assert {name: problem["level"] for name, problem in found.items()} == {"notebook-packages": "warning"}
    assert "ipython is missing" in found["notebook-packages"]["text"]
    assert data["facts"]["opencl"] is None
    data, found = examined(doctor("--json", "--on", "opencl", python=python))
    assert data["ok"] is False
    assert found["pyopencl-missing"]["level"] == "error"


def test_without_anything(doctor, alone):
    data, found = examined(doctor("--json", python=alone()))
    assert data["ok"] is False
    assert "numpy is missing, llvmlite is missing" in found["packages"]["text"]


def test_a_pyopencl_that_cannot_be_imported(doctor, alone):
    python = alone("numpy", "llvmlite")
    (alone.site / "pyopencl").mkdir()
    (alone.site / "pyopencl" / "__init__.py").write_text(
        "raise ImportError('libOpenCL.so.1: no such file')\n"
    )
    data, found = examined(doctor("--json", python=python))
    assert data["ok"] is False
    assert "libOpenCL.so.1: no such file" in found["pyopencl-broken"]["text"]


@needs_pocl
def test_a_pyopencl_without_a_driver(doctor, alone, vendors):
    python = alone("numpy", "llvmlite", "pytools", "platformdirs", "typing_extensions", "siphash24")
    real = folder_of("pyopencl")
    # Copies, not links: the loader looks beside the real file.
    shutil.copytree(
        real, alone.site / "pyopencl", ignore=shutil.ignore_patterns("libpocl*", "*.icd", "__pycache__")
    )
    alone.link_to(next(real.parent.glob("pyopencl-*.dist-info")))
    data, found = examined(doctor("--json", python=python, OPENCL_VENDOR_PATH=vendors()))
    assert data["ok"] is False
    assert data["facts"]["opencl"]["platforms"] == []
    assert Path(data["facts"]["opencl"]["loaders"][0]).parent == (alone.site / "pyopencl" / ".libs").resolve()
    assert found["no-driver"]["level"] == "error"
    assert found["no-driver"]["mend"][-1].endswith("-m pip install 'pocl-binary-distribution>=3.0'")


# ------------------------------------------------------------------------------------- in this process


def test_folders_of_wheels(tmp_path):
    assert _wheel_folder(None) is None
    package = tmp_path / "pyopencl"
    package.mkdir()
    assert _wheel_folder(package) is None, "built here, with the system's loader"
    (tmp_path / "pyopencl.libs").mkdir()
    (tmp_path / "pyopencl.libs" / "libOpenCL-1.so").touch()
    assert _wheel_folder(package) == (tmp_path / "pyopencl.libs").resolve()


@needs_pocl
def test_this_process_sees_what_a_new_one_would():
    import pyopencl  # noqa: F401

    found = gather(["opencl"])
    assert found.devices_here == len(found.opencl_facts.devices) > 0
    assert found.wheel_loader
    assert POCL.name in [file.library for file in found.read]
