"""Each trap: what is said of it, how loudly, and the command that mends it."""

from dataclasses import replace
from pathlib import Path

import pytest

from hastega_magic.doctor import judge
from hastega_magic.doctor.ask import Answer
from hastega_magic.doctor.host import Package, Threads
from hastega_magic.doctor.icd import CacheFolder, IcdFile, Search

PIP = "/env/bin/python -m pip"


def only(findings):
    """The one problem there is."""
    [problem] = judge(findings).problems
    return problem


def ids(findings):
    return [(each.level, each.id) for each in judge(findings).problems]


def packages(machine, **versions):
    named = {name.replace("_", "-"): version for name, version in versions.items()}
    found = machine.healthy.packages
    return {name: Package(name, named.get(name, each.version), each.oldest) for name, each in found.items()}


def python(there, /, **changes):
    return replace(there.healthy.python, **changes)


def test_a_machine_on_which_all_is_well(machine):
    found = judge(machine.healthy)
    assert found.ok
    assert found.problems == ()
    assert {trial.state for trial in found.trials} == {"works"}


# ------------------------------------------------------------------------------------------- packages


def test_a_package_that_computes_is_missing(machine):
    words = "ModuleNotFoundError: No module named 'llvmlite'"
    trials = [{"trial": {"backend": name, "state": "fails", "text": words}} for name in ("simd", "parallel")]
    answer = Answer(({"begin": "asking llvmlite"}, {"trouble": words}, *trials))
    found = machine.but(packages=packages(machine, llvmlite=""), cpu=answer)
    problem = only(found)
    assert (problem.level, problem.id) == ("error", "packages")
    assert "llvmlite is missing" in problem.text
    assert problem.mend == (f"{PIP} install 'llvmlite>=0.50'",)
    assert not judge(found).ok


def test_packages_that_only_notebooks_need_are_no_error(machine):
    found = machine.but(packages=packages(machine, ipython="", ipywidgets="7.7"))
    problem = only(found)
    assert (problem.level, judge(found).ok) == ("warning", True)
    assert "ipython is missing, ipywidgets 7.7 is older than 8.1" in problem.text
    assert problem.mend == (f"{PIP} install 'ipython>=8.18' 'ipywidgets>=8.1'",)


def test_without_pip_it_comes_first(machine):
    found = machine.but(packages=packages(machine, ipython=""), python=python(machine, pip=False))
    assert only(found).mend == ("/env/bin/python -m ensurepip", f"{PIP} install 'ipython>=8.18'")


def test_paths_with_spaces_can_be_typed(machine):
    found = machine.but(
        packages=packages(machine, ipython=""), python=python(machine, executable="/my env/python")
    )
    assert only(found).mend == ("'/my env/python' -m pip install 'ipython>=8.18'",)


def test_a_damaged_calibration_is_named(machine, tmp_path):
    file = tmp_path / "machine-0.json"
    found = machine.but(damaged=((file, "is damaged"),))
    problem = only(found)
    assert (problem.level, problem.id, judge(found).ok) == ("warning", "calibration", True)
    assert f"the calibration {file} is damaged and is ignored" in problem.text
    assert "`%hastega calibrate`" in problem.text
    assert problem.mend == (f"rm {file}",)


@pytest.mark.parametrize(
    ("limit", "told"), [(None, False), (4.0, False), (3.6, False), (1.5, True), (0.2, True)]
)
def test_a_quota_below_the_threads(machine, limit, told):
    found = machine.but(threads=Threads(4, 4, limit, 4))
    assert ids(found) == ([("warning", "quota")] if told else [])
    if told:
        assert f"--threads {max(1, round(limit))}" in only(found).text


def test_no_process_could_be_started(machine):
    found = machine.but(cpu=Answer((), "cannot be started: no such file"), opencl=None, needed=("parallel",))
    problem = only(found)
    assert (problem.level, problem.id) == ("error", "process")


def test_a_crash_names_the_step_and_the_rest_is_not_tried(machine):
    events = machine.cpu_answer().events[:4]
    found = judge(machine.but(cpu=Answer((*events, {"begin": "simd"}), "crashed (SIGILL)")))
    texts = {trial.backend: trial.text for trial in found.trials if trial.state == "fails"}
    assert texts["simd"] == "the process that tried it crashed (SIGILL) at: simd"
    assert texts["parallel"].startswith("not tried: ")
    assert [each.level for each in found.problems] == ["error", "error"]


# --------------------------------------------------------------------------------------------- OpenCL


def test_pyopencl_may_be_absent(machine):
    found = judge(machine.but(opencl=None, needed=("parallel",), icd=(), wheel=None))
    assert found.ok
    assert found.problems == ()
    assert found.trials[-1].state == "absent"


def test_unless_it_was_asked_for(machine):
    found = machine.but(opencl=None, needed=("opencl",), icd=(), wheel=None)
    problem = only(found)
    assert (problem.level, problem.id) == ("error", "pyopencl-missing")
    assert problem.mend == (f"{PIP} install 'pyopencl>=2025.1' 'pocl-binary-distribution>=3.0'",)
    arm = replace(found, python=python(machine, machine="aarch64"))
    assert only(arm).mend[0] == f"{PIP} install 'pyopencl>=2025.1'"
    assert only(arm).mend[1].endswith("apt-get install -y pocl-opencl-icd")


def test_pyopencl_cannot_be_imported(machine):
    answer = Answer(({"begin": "listing OpenCL devices"}, {"trouble": "ImportError: undefined symbol: x"}))
    problem = only(machine.but(opencl=answer))
    assert (problem.level, problem.id) == ("error", "pyopencl-broken")
    assert "undefined symbol" in problem.text
    assert problem.mend == (f"{PIP} install --force-reinstall --no-deps --only-binary :all: pyopencl",)


def test_pyopencl_is_too_old(machine):
    problem = only(machine.but(packages=packages(machine, pyopencl="2022.1")))
    assert (problem.level, problem.id) == ("warning", "pyopencl-old")
    assert problem.mend == (f"{PIP} install 'pyopencl>=2025.1'",)


def test_no_driver(machine):
    found = machine.without_devices(packages=packages(machine, pocl_binary_distribution=""))
    problem = only(found)
    assert (problem.level, problem.id) == ("error", "no-driver")
    assert "PLATFORM_NOT_FOUND_KHR" in problem.text
    assert problem.mend == (f"{PIP} install 'pocl-binary-distribution>=3.0'",)
    assert not judge(found).ok
    assert judge(replace(found, needed=("parallel",))).ok, "OpenCL was not asked for"


def test_no_driver_where_pypi_has_none(machine):
    found = machine.without_devices(packages=packages(machine, pocl_binary_distribution=""))
    assert only(replace(found, python=python(machine, machine="aarch64", apt=False))).mend == ()
    conda = replace(found, python=python(machine, conda=True), wheel=None)
    assert only(conda).mend == ("conda install -y -p /env -c conda-forge pocl",)


def test_pocl_without_its_icd_file(machine):
    problem = only(machine.without_devices())
    assert problem.id == "no-driver"
    assert problem.mend[0].endswith(
        "--force-reinstall --no-deps --only-binary :all: pocl-binary-distribution"
    )


def test_a_pyopencl_with_the_systems_loader_does_not_see_pips_pocl(machine):
    answer = machine.opencl_answer((), (), loader="/usr/lib/libOpenCL.so.1")
    hidden = IcdFile(str(machine.wheel / "pocl.icd"), "libpocl-1.so", is_read=False)
    found = machine.but(opencl=answer, icd=(hidden,), reads=Search((Path("/etc/OpenCL/vendors"),)))
    problem = only(found)
    assert (problem.level, problem.id) == ("error", "loader-blind")
    assert problem.text.startswith("/usr/lib/libOpenCL.so.1, which pyopencl uses, does not read ")
    assert problem.mend[0] == f"{PIP} install --force-reinstall --no-deps --only-binary :all: pyopencl"
    conda = replace(found, python=python(machine, conda=True))
    assert only(conda).mend == ("conda install -y -p /env -c conda-forge pocl",)


def test_condas_loader_does_not_see_the_systems_drivers(machine, tmp_path):
    answer = machine.opencl_answer(loader="/env/lib/libOpenCL.so.1")
    files = (
        IcdFile("/env/etc/OpenCL/vendors/pocl.icd", "/env/lib/libpocl.so", is_read=True),
        IcdFile("/etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1", is_read=False),
        IcdFile("/etc/OpenCL/vendors/pocl.icd", "libpocl.so.2", is_read=False),
        IcdFile("/etc/OpenCL/vendors/bad.icd", "libbad.so", is_read=False, trouble="not there"),
    )
    found = machine.but(opencl=answer, icd=files, reads=Search((tmp_path,), vendors=tmp_path))
    problem = only(found)
    assert (problem.level, problem.id) == ("warning", "loader-blind")
    assert problem.mend == (f"mkdir -p {tmp_path} && echo libnvidia-opencl.so.1 > {tmp_path}/nvidia.icd",)
    assert ids(replace(found, vendors_variable=str(tmp_path))) == [], "somebody chose these drivers"


def test_the_variable_hides_every_driver(machine):
    found = machine.without_devices(
        icd=(IcdFile(str(machine.wheel / "pocl.icd"), "libpocl-1.so", is_read=False),),
        reads=Search((), missing="/nowhere"), vendors_variable="/nowhere",
    )  # fmt: skip
    problem = only(found)
    assert (problem.level, problem.id) == ("error", "vendors-missing")
    assert "there is no /nowhere" in problem.text
    assert problem.mend == ("unset OCL_ICD_VENDORS",)


def stale(path, library="libintel.so"):
    return IcdFile(path, library, is_read=True, trouble="cannot open shared object file")


def test_a_stale_icd_file_beside_a_driver_that_works(machine, tmp_path):
    path = str(tmp_path / "intel.icd")
    problem = only(machine.but(icd=(*machine.healthy.icd, stale(path))))
    assert (problem.level, problem.id) == ("warning", "icd-stale")
    assert f"{path} names libintel.so, which cannot be loaded: cannot open" in problem.text
    assert problem.mend == (f"mv {path} {path}.off",)


def test_a_stale_icd_file_is_not_why_pocl_has_no_devices(machine, tmp_path):
    found = pocl_without_devices(machine, tmp_path / "none")
    found = replace(found, icd=(*found.icd, stale(str(tmp_path / "intel.icd"))))
    assert ids(found) == [("error", "pocl-cache"), ("warning", "icd-stale")]


def test_a_stale_icd_file_alone(machine, tmp_path):
    found = machine.without_devices(
        icd=(stale(str(tmp_path / "intel.icd")),), packages=packages(machine, pocl_binary_distribution="")
    )
    assert ids(found) == [("error", "icd-library"), ("error", "no-driver")]


def test_pips_pocl_cannot_be_loaded(machine):
    problem = only(machine.without_devices(icd=(stale(str(machine.wheel / "pocl.icd"), "libpocl-1.so"),)))
    assert problem.id == "icd-library"
    assert problem.mend[0].endswith(":all: pocl-binary-distribution")


def test_nvidias_driver_is_not_in_the_container(machine, tmp_path):
    found = machine.but(
        icd=(*machine.healthy.icd, stale(str(tmp_path / "nvidia.icd"), "libnvidia-opencl.so.1"))
    )
    assert "NVIDIA_DRIVER_CAPABILITIES" in only(found).text


def test_the_variable_names_a_library_that_cannot_be_loaded(machine):
    found = machine.without_devices(
        icd=(stale("", "libpocl.so.9"),),
        vendors_variable="libpocl.so.9",
        reads=Search((), library="libpocl.so.9"),
    )
    assert ("error", "icd-library") in ids(found)
    assert judge(found).problems[0].mend == ("unset OCL_ICD_VENDORS",)


def pocl_without_devices(machine, folder, trouble="not a folder"):
    answer = machine.opencl_answer((), (replace(machine.pocl, devices=0),))
    return machine.but(opencl=answer, cache=CacheFolder(str(folder), folder.is_dir(), 0, trouble))


def test_pocls_cache_cannot_be_written(machine, tmp_path):
    problem = only(pocl_without_devices(machine, tmp_path / "none"))
    assert (problem.level, problem.id) == ("error", "pocl-cache")
    assert problem.mend == ('export POCL_CACHE_DIR="$(mktemp -d)"',)


def test_pocls_cache_is_ours_and_shut(machine, tmp_path):
    folder = tmp_path / "a cache"
    folder.mkdir(mode=0o500)
    assert only(pocl_without_devices(machine, folder)).mend == (f"chmod -R u+rwX '{folder}'",)
    folder.chmod(0o700)
    assert only(pocl_without_devices(machine, folder)).mend[0].startswith("export ")


def test_a_cache_matters_to_pocl_alone(machine):
    other = (IcdFile("/etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1", is_read=True),)
    assert ids(machine.but(icd=other, cache=CacheFolder("/x", False, 0, "not a folder"))) == []


def test_a_platform_without_devices(machine):
    empty = replace(machine.pocl, name="Vendor", devices=0, trouble="clGetDeviceIDs failed")
    problem = only(machine.but(opencl=machine.opencl_answer((), (empty,))))
    assert problem.id == "no-devices"
    assert problem.text == "the platform Vendor has no devices: clGetDeviceIDs failed"


def test_conda_and_pip_have_each_brought_pocl(machine):
    files = (
        IcdFile("/env/etc/OpenCL/vendors/pocl.icd", "/env/lib/libpocl.so.2", is_read=True),
        IcdFile(str(machine.wheel / "pocl.icd"), "libpocl-1.so", is_read=False),
    )
    found = machine.but(icd=files, python=python(machine, conda=True))
    problem = only(found)
    assert (problem.level, problem.id) == ("warning", "pocl-twice")
    assert problem.mend == (f"{PIP} uninstall -y pocl-binary-distribution",)
    swapped = tuple(replace(file, is_read=not file.is_read) for file in files)
    assert only(replace(found, icd=swapped)).mend == ("conda remove -y -p /env pocl",)


def test_the_system_and_pip_have_each_brought_pocl(machine):
    files = (IcdFile("/etc/OpenCL/vendors/pocl.icd", "libpocl.so.2", is_read=True), *machine.healthy.icd)
    assert only(machine.but(icd=files)).mend == (f"{PIP} uninstall -y pocl-binary-distribution",)
    unread = (replace(files[0], is_read=False), files[1])
    assert ids(machine.but(icd=unread)) == [], "the system's is no matter of this environment's loader"


def test_nvidias_library_without_an_icd_file(machine, tmp_path):
    found = machine.but(
        nvidia_gpu=True, nvidia_library="libnvidia-opencl.so.1",
        reads=Search((tmp_path / "OpenCL/vendors",), vendors=tmp_path / "OpenCL/vendors"),
    )  # fmt: skip
    problem = only(found)
    folder = tmp_path / "OpenCL/vendors"
    assert (problem.level, problem.id) == ("warning", "nvidia-no-icd")
    assert problem.mend == (f"mkdir -p {folder} && echo libnvidia-opencl.so.1 > {folder}/nvidia.icd",)


def test_a_gpu_of_nvidias_without_the_opencl_part_of_its_driver(machine):
    problem = only(machine.but(nvidia_gpu=True))
    assert (problem.level, problem.id, problem.mend) == ("warning", "nvidia-no-opencl", ())


def test_a_device_without_float64(machine):
    device = replace(machine.device, float64=False)
    problem = only(machine.but(opencl=machine.opencl_answer((device,))))
    assert (problem.level, problem.id) == ("warning", "no-float64")
    assert "float32" in problem.text


def test_a_device_that_is_listed_and_does_not_work(machine):
    failed = {"trial": {"backend": "opencl:0", "state": "fails", "text": "BuildError: refused"}}
    device = replace(machine.device, float64=False)
    found = judge(machine.but(opencl=machine.opencl_answer((device,), trials=[failed])))
    assert not found.ok
    assert [(each.level, each.id) for each in found.problems] == [
        ("error", "backend"),
        ("warning", "no-float64"),
    ]
    assert found.problems[0].text == "--on opencl does not work: BuildError: refused"


def test_another_device_that_does_not_work_is_a_warning(machine):
    devices = (machine.device, replace(machine.device, number=1))
    trials = [
        {"trial": {"backend": "opencl:0", "state": "works", "text": ""}},
        {"trial": {"backend": "opencl:1", "state": "fails", "text": "DeviceError: lost"}},
    ]
    found = machine.but(opencl=machine.opencl_answer(devices, trials=trials))
    assert judge(found).ok
    assert only(found).text == "--on opencl:1 does not work: DeviceError: lost"
    assert only(found).level == "warning"


def test_a_device_that_was_asked_for_and_is_not_there(machine):
    answer = machine.opencl_answer()
    refused = {"refused": {"opencl:7": "there is no OpenCL device '7'; opencl:0 is pthread-cpu"}}
    found = machine.but(opencl=replace(answer, events=(*answer.events, refused)), needed=("opencl:7",))
    assert not judge(found).ok
    assert "opencl:0 is pthread-cpu" in only(found).text


def test_a_driver_that_crashes(machine):
    answer = Answer(({"begin": "listing OpenCL devices"},), "crashed (SIGSEGV)", "LLVM ERROR: twice\n")
    found = machine.but(opencl=answer)
    problem = only(found)
    assert (problem.level, problem.id) == ("error", "driver-crash")
    assert "crashed (SIGSEGV) at: listing OpenCL devices" in problem.text
    assert "libpocl-1.so" in problem.text
    assert problem.text.endswith("LLVM ERROR: twice")


def test_a_kernel_that_is_older_than_the_driver(machine):
    assert ids(machine.but(devices_here=1)) == []
    problem = only(machine.but(devices_here=0))
    assert (problem.level, problem.id) == ("warning", "restart")
    assert problem.text.endswith("restart the kernel")


def test_nothing_was_answered_at_all(machine):
    found = judge(machine.but(cpu=Answer(()), opencl=Answer(()), icd=(), reads=Search(()), wheel=None))
    assert not found.ok
    assert found.problems
    assert found.tables
