"""Where loaders look, what stands there, and PoCL's cache, over real files."""

import os

import pytest

from hastega_magic.doctor import icd
from hastega_magic.doctor.icd import (
    SYSTEM_FOLDER,
    IcdFile,
    Search,
    compiled_in,
    icd_files,
    inspect_cache,
    loadable,
    pocl_cache,
    search,
)


@pytest.fixture
def loader(tmp_path):
    """A loader's file that was compiled for a folder of its own."""
    folder = tmp_path / "wheel"
    folder.mkdir()
    file = folder / "libOpenCL.so.1"
    file.write_bytes(
        b"\x7fELF\x00OCL_ICD_VENDORS\x00/opt/conda/etc/OpenCL/vendors\x00\x00hard-coded path '%s'\x00"
    )
    return file


def test_the_folder_that_a_loader_was_compiled_for(loader, tmp_path):
    assert [str(path) for path in compiled_in(loader)] == ["/opt/conda/etc/OpenCL/vendors"]
    assert compiled_in(None) == compiled_in(tmp_path / "none") == (SYSTEM_FOLDER,)


def test_the_real_loader_is_read():
    pyopencl = pytest.importorskip("pyopencl")
    folder = os.path.join(os.path.dirname(pyopencl.__file__), ".libs")  # noqa: PTH118, PTH120
    names = [name for name in os.listdir(folder) if name.startswith("libOpenCL")]  # noqa: PTH208
    assert names
    assert compiled_in(SYSTEM_FOLDER.__class__(folder, names[0])) == (SYSTEM_FOLDER,)


def test_without_variables(loader):
    found = search({}, loader, loader.parent)
    assert [str(path) for path in found.folders] == ["/opt/conda/etc/OpenCL/vendors", str(loader.parent)]
    assert found.vendors == found.folders[0]
    assert search({}, None, loader.parent).folders == (SYSTEM_FOLDER,), (
        "another loader does not read the wheel's"
    )


def test_a_folder_is_read_instead_of_the_loaders_own(loader, tmp_path):
    found = search({"OCL_ICD_VENDORS": str(tmp_path)}, loader, loader.parent)
    assert found == Search((tmp_path, loader.parent), vendors=tmp_path)
    assert search({"OPENCL_VENDOR_PATH": "/x"}, loader, None).folders == (tmp_path.__class__("/x"),)


def test_one_file_or_one_library_is_read_alone(loader, tmp_path):
    file = tmp_path / "one.icd"
    file.write_text("libone.so\n")
    assert search({"OCL_ICD_VENDORS": str(file)}, loader, loader.parent) == Search((), (file,))
    found = search({"OCL_ICD_VENDORS": "libpocl.so.2"}, loader, loader.parent)
    assert found == Search((), library="libpocl.so.2")
    [driver] = icd_files(found, [])
    assert (driver.path, driver.library, driver.is_read) == ("", "libpocl.so.2", True)
    assert loadable(driver) == "libpocl.so.2"


@pytest.mark.parametrize("name", ["missing", "missing.icd", "sub/missing.so"])
def test_what_does_not_exist_is_said(loader, tmp_path, name):
    path = str(tmp_path / name)
    assert search({"OCL_ICD_VENDORS": path}, loader, loader.parent) == Search((), missing=path)


def test_icd_files(vendors, tmp_path):
    folder = vendors(pocl="libpocl.so.2", nvidia="libnvidia-opencl.so.1", empty="", late="/opt/x.so\nmore")
    (folder / "not-one.txt").write_text("libx.so")
    (folder / "broken.icd").symlink_to(tmp_path / "nowhere")
    files = {os.path.basename(file.path): file for file in icd_files(Search((folder,)), [folder])}  # noqa: PTH119
    assert set(files) == {"pocl.icd", "nvidia.icd", "empty.icd", "late.icd", "broken.icd"}
    assert files["late.icd"].library == "/opt/x.so"
    assert files["empty.icd"].library == files["broken.icd"].library == ""
    assert files["pocl.icd"].pocl
    assert files["nvidia.icd"].nvidia
    assert not files["late.icd"].pocl
    assert all(file.is_read for file in files.values())
    assert not any(file.is_read for file in icd_files(Search(()), [folder, tmp_path / "none"]))


def test_a_library_beside_its_file_is_meant(tmp_path):
    file = IcdFile(str(tmp_path / "pocl.icd"), "libpocl.so", True)
    assert loadable(file) == "libpocl.so"
    (tmp_path / "libpocl.so").touch()
    assert loadable(file) == str(tmp_path / "libpocl.so")


def test_pocls_rules_for_its_cache():
    variables = {"POCL_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}
    assert str(pocl_cache(variables)) == "/a"
    assert str(pocl_cache(variables | {"POCL_CACHE_DIR": ""})) == "/b/pocl/kcache"
    assert str(pocl_cache({"HOME": "/c"})) == "/c/.cache/pocl/kcache"
    assert pocl_cache({}).is_absolute()


def test_a_large_cache_is_not_counted_to_its_end(tmp_path, monkeypatch):
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.so").write_bytes(b"x")
    (tmp_path / "first").write_bytes(b"x" * 10)
    times = iter([0.0, 0.1, 0.3])
    monkeypatch.setattr(icd.time, "monotonic", lambda: next(times))
    found = inspect_cache(tmp_path)
    assert (found.exists, found.bytes, found.whole) == (True, 10, False)


def test_a_cache_that_works(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "kernel.so").write_bytes(b"x" * 1234)
    found = inspect_cache(tmp_path)
    assert (found.exists, found.bytes, found.trouble, found.whole) == (True, 1234, "", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sub"], "nothing is left behind"


def test_a_cache_that_is_still_to_be_made_is_not_made(tmp_path):
    found = inspect_cache(tmp_path / "a" / "b")
    assert (found.exists, found.bytes, found.trouble) == (False, 0, "")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_cache(tmp_path):
    (tmp_path / "file").touch()
    assert "file is not a folder" in inspect_cache(tmp_path / "file" / "kcache").trouble
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "is not a folder" in inspect_cache(tmp_path / "loop" / "kcache").trouble


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    try:
        assert "Permission denied" in inspect_cache(tmp_path).trouble
        assert "Permission denied" in inspect_cache(tmp_path / "kcache").trouble
    finally:
        tmp_path.chmod(0o700)


def test_a_read_only_file_system_is_no_place(monkeypatch, tmp_path):
    def refuse(**options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert inspect_cache(tmp_path).trouble == f"{tmp_path} cannot be written: Read-only file system"


def test_noexec_is_no_place_for_shared_libraries(monkeypatch, tmp_path):
    flags = type("Flags", (), {"f_flag": getattr(os, "ST_NOEXEC", 8)})
    monkeypatch.setattr("os.statvfs", lambda path: flags)
    if hasattr(os, "ST_NOEXEC"):
        assert "noexec" in inspect_cache(tmp_path).trouble
