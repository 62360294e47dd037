"""The disk cache: names of files, which files are valid, and that no error is raised."""

import importlib.util
import marshal
import os
import py_compile
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from cassette_import.specialization import disk_cache

ROOT = Path(disk_cache.__file__).parents[2]
TAG = "noop1f"


@pytest.fixture(autouse=True)
def caching(monkeypatch):
    """C7: the environment may disable writing bytecode, so the tests enable it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


class Source:
    """A source file, and a value to cache for it."""

    def __init__(self, path, text="def f():\n    return (lambda: 1)()\n"):
        self.file = Path(path)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text)
        self.path = str(self.file)

    @property
    def hash(self):
        return importlib.util.source_hash(self.file.read_bytes())

    @property
    def value(self):
        code = compile(self.file.read_bytes(), self.path, "exec", dont_inherit=True)
        return {"": code, "f": code.co_consts[0], "answer": 42}

    def write(self, tag=TAG):
        return disk_cache.write(self.path, tag, self.hash, [self.value])

    def append(self, value):
        return disk_cache.append(self.path, TAG, self.hash, value)

    def read(self, tag=TAG):
        """The last value; None if there is none."""
        return ([None] + disk_cache.read(self.path, tag, lambda: self.hash))[-1]

    @property
    def cached(self):
        return Path(disk_cache.location(self.path, TAG))


@pytest.fixture
def source(tmp_path):
    return Source(tmp_path / "pkg" / "mod.py")


def test_what_is_written_is_read(source):
    assert source.read() is None
    assert source.write()
    assert source.read() == source.value
    assert [name for name in os.listdir(source.cached.parent)] == [source.cached.name]


def test_what_is_appended_is_read_after_what_was_written(source):
    source.write()
    assert source.append(1)
    assert source.append(2)
    assert disk_cache.read(source.path, TAG, lambda: source.hash) == [source.value, 1, 2]


def test_nothing_is_appended_to_a_file_that_is_not_there(source):
    assert not source.append(1)
    assert disk_cache.find(source.path) == []


def test_a_record_that_was_cut_off_hides_only_what_follows_it(source):
    source.write()
    whole = source.cached.stat().st_size
    source.append(1)
    data = source.cached.read_bytes()
    for length in range(whole, len(data)):
        source.cached.write_bytes(data[:length])
        assert disk_cache.read(source.path, TAG, lambda: source.hash) == [source.value], length


def test_what_was_appended_for_another_text_is_passed_over(source):
    source.write()
    disk_cache.append(source.path, TAG, b"8 others", 1)
    source.append(2)
    assert disk_cache.read(source.path, TAG, lambda: source.hash) == [source.value, 2]


def test_the_size_is_that_of_what_was_written_and_appended(source):
    assert disk_cache.size(source.path, TAG) == 0
    assert source.write() + source.append(1) == disk_cache.size(source.path, TAG) > 0


class Stamped:
    """A source file that is older than the time from which on its times prove its text."""

    def __init__(self, source, monkeypatch):
        self.source = source
        self.asked = 0
        monkeypatch.setattr(disk_cache.time, "time", lambda: source.file.stat().st_ctime + 10)
        disk_cache.write(source.path, TAG, source.hash, ["value"], disk_cache.stamp_of(source.path))

    def digest(self):
        self.asked += 1
        return self.source.hash

    def read(self):
        return disk_cache.read(self.source.path, TAG, self.digest)


def test_C3_a_file_that_has_the_same_times_is_not_read(source, monkeypatch):
    stamped = Stamped(source, monkeypatch)
    assert stamped.read() == ["value"]
    assert stamped.asked == 0


def test_C3_a_file_with_other_times_and_the_same_text_is_read_and_compared(source, monkeypatch):
    stamped = Stamped(source, monkeypatch)
    os.utime(source.path, (1, 1))
    assert stamped.read() == ["value"]
    assert stamped.asked == 1


def test_C3_an_edit_whose_times_were_set_back_is_detected(source, monkeypatch):
    stamped = Stamped(source, monkeypatch)
    before = source.file.stat()
    source.file.write_text(source.file.read_text().replace("1", "2"))
    os.utime(source.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert source.file.stat().st_size == before.st_size
    assert stamped.read() == []


def test_C3_the_times_of_a_file_that_was_just_changed_prove_nothing(source):
    assert disk_cache.stamp_of(source.path) == disk_cache.NO_STAMP


def test_C1_the_name_has_the_versions_of_python_and_cassette_import_and_the_kind_of_code(source, monkeypatch):
    monkeypatch.setattr(sys.modules["cassette_import"], "__version__", "1.2.3", raising=False)
    level = sys.flags.optimize or ""
    assert source.cached.parent == source.file.parent / "__pycache__"
    assert source.cached.name == f"mod.{sys.implementation.cache_tag}.opt-{level}cassette123{TAG}.pyc"


def test_C1_tags_do_not_disturb_each_other(source):
    disk_cache.write(source.path, "one", source.hash, [1])
    disk_cache.write(source.path, "two", source.hash, [2])
    assert disk_cache.read(source.path, "one", lambda: source.hash) == [1]
    assert disk_cache.read(source.path, "two", lambda: source.hash) == [2]
    assert disk_cache.read(source.path, "three", lambda: source.hash) == []


def test_C2_another_state_of_this_package_reads_nothing(source, monkeypatch):
    source.write()
    monkeypatch.setattr(disk_cache, "_fingerprint", lambda: b"8 others")
    assert source.read() is None
    assert source.write()
    assert source.read() == source.value


def test_C2_the_fingerprint_is_that_of_the_files(tmp_path, monkeypatch):
    package = tmp_path / "cassette_import"
    (package / "rewriting").mkdir(parents=True)
    (package / "rewriting" / "rewriter.py").write_text("1")
    (package / "contexts").mkdir()
    monkeypatch.setattr(disk_cache, "PACKAGE_FOLDER", str(package))
    first = disk_cache._fingerprint.__wrapped__()
    (package / "contexts" / "noop.py").write_text("2")
    assert disk_cache._fingerprint.__wrapped__() == first
    (package / "rewriting" / "rewriter.py").write_text("2")
    assert disk_cache._fingerprint.__wrapped__() != first


@pytest.fixture
def own_package(tmp_path, monkeypatch):
    """Files in the place of cassette_import's, which are old enough for their times to be trusted."""
    package = tmp_path / "cassette_import"
    (package / "rewriting" / "forms").mkdir(parents=True)
    (package / "specialization").mkdir()
    for name in ("rewriting/rewriter.py", "rewriting/forms/guarded.py", "specialization/__init__.py"):
        (package / name).write_text("1")
    monkeypatch.setattr(disk_cache, "PACKAGE_FOLDER", str(package))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "caches"))
    os.makedirs(os.path.dirname(disk_cache._location_of_fingerprint()))
    monkeypatch.setattr(disk_cache, "_SETTLED", -10.0)
    return package


def test_C2_the_fingerprint_is_computed_once_for_all_processes(own_package, monkeypatch):
    first = disk_cache._fingerprint.__wrapped__()
    monkeypatch.setattr(importlib.util, "MAGIC_NUMBER", b"not read")
    assert disk_cache._fingerprint.__wrapped__() == first


@pytest.mark.parametrize("name", ["rewriting/rewriter.py", "rewriting/forms/guarded.py", "rewriting/new.py"])
@pytest.mark.parametrize("text", ["2", "1 "])
def test_C2_a_cached_fingerprint_is_not_used_after_an_edit_with_the_same_times(own_package, name, text):
    first = disk_cache._fingerprint.__wrapped__()
    before = (own_package / "rewriting" / "rewriter.py").stat()
    time.sleep(0.05)  # file systems may count time in steps of hundredths of seconds
    (own_package / name).write_text(text)
    os.utime(own_package / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert disk_cache._fingerprint.__wrapped__() != first


def test_C2_a_fingerprint_is_not_cached_while_files_are_being_edited(own_package, monkeypatch):
    monkeypatch.setattr(disk_cache, "_SETTLED", 2.0)
    disk_cache._fingerprint.__wrapped__()
    assert not os.path.exists(disk_cache._location_of_fingerprint())


@pytest.mark.parametrize("length", [0, 8, 23, 24, 30])
def test_C4_a_damaged_cached_fingerprint_is_computed_again(own_package, length):
    first = disk_cache._fingerprint.__wrapped__()
    path = disk_cache._location_of_fingerprint()
    data = Path(path).read_bytes()
    Path(path).write_bytes((data * 2)[:length] if length != len(data) else data[:8] + b"8 others" + data[16:])
    assert disk_cache._fingerprint.__wrapped__() == first


def test_C3_an_edit_is_detected_without_a_change_of_times(source):
    source.write()
    before = source.file.stat()
    source.file.write_text("def g():\n    return (lambda: 1)()\n")
    os.utime(source.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert source.read() is None


def test_C3_a_fresh_checkout_is_read(source):
    source.write()
    os.utime(source.path, (4102444800, 4102444800))
    assert source.read() == source.value


def test_C4_every_truncation_is_as_if_there_were_nothing(source):
    source.write()
    data = source.cached.read_bytes()
    for length in range(len(data)):
        source.cached.write_bytes(data[:length])
        assert source.read() is None, length


def test_C4_every_changed_byte_is_noticed(source):
    source.write()
    data = source.cached.read_bytes()
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0x55
        source.cached.write_bytes(changed)
        assert source.read() is None, position


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        marshal.dumps({"": 1}),
        importlib.util.MAGIC_NUMBER + b"\3\0\0\0" + bytes(8) + marshal.dumps(1),
    ],
    ids=["empty", "zeros", "marshal", "pyc"],
)
def test_C4_foreign_content_is_as_if_there_were_nothing(source, content):
    source.cached.parent.mkdir()
    source.cached.write_bytes(content)
    assert source.read() is None
    assert source.write()
    assert source.read() == source.value


def test_C4_a_folder_in_the_place_of_the_file(source):
    source.cached.mkdir(parents=True)
    assert source.read() is None
    assert not source.write()
    assert os.listdir(source.cached.parent) == [source.cached.name]  # no temporary file is left


def test_C5_a_moved_tree_names_its_new_place(source, tmp_path):
    source.write()
    source.file.parent.rename(tmp_path / "moved")
    moved = Source(tmp_path / "moved" / "mod.py")
    value = moved.read()
    inner = value["f"].co_consts[1] if value["f"].co_consts[0] is None else value["f"].co_consts[0]
    assert {value[""].co_filename, value["f"].co_filename, inner.co_filename} == {moved.path}


def test_C5_code_of_other_files_keeps_its_name(source, tmp_path):
    other = compile("1", "<gate>", "exec")
    disk_cache.write(source.path, TAG, source.hash, [{"a": (other,)}, source.value])
    source.file.parent.rename(tmp_path / "moved")
    moved = Source(tmp_path / "moved" / "mod.py")
    [gate, value] = disk_cache.read(moved.path, TAG, lambda: moved.hash)
    assert gate["a"][0].co_filename == "<gate>"
    assert value[""].co_filename == moved.path


def test_C6_many_processes_leave_one_whole_file(source):
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from cassette_import.specialization import disk_cache as cache
        path, value = sys.argv[2], {"numbers": list(range(20000))}
        for _ in range(30):
            assert cache.write(path, "tag", b"8 bytes.", [value])
            assert cache.read(path, "tag", lambda: b"8 bytes.") == [value]
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(ROOT), source.path]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    processes = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    files = os.listdir(source.file.parent / "__pycache__")
    assert files == [os.path.basename(disk_cache.location(source.path, "tag"))]


def test_C6_interrupted_writing_leaves_what_was_there(source, monkeypatch):
    source.write()

    def interrupted(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        disk_cache.write(source.path, TAG, source.hash, ["new"])
    assert source.read() == source.value
    assert os.listdir(source.cached.parent) == [source.cached.name]


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_C6_the_file_is_as_private_as_the_source(source):
    os.chmod(source.path, 0o400)
    source.write()
    assert stat.S_IMODE(source.cached.stat().st_mode) == 0o600


def test_C7_nothing_is_written_where_writing_bytecode_is_off(source, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert not source.write()
    assert not source.cached.parent.exists()


def test_C7_what_is_there_is_read_all_the_same(source, monkeypatch):
    source.write()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert source.read() == source.value


def test_C7_a_read_only_folder_is_read_and_not_written(source, monkeypatch):
    source.write()

    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    # Not by chmod, which means nothing to root, who may run the tests.
    monkeypatch.setattr(os, "open", refused)
    assert not disk_cache.write(source.path, TAG, source.hash, ["new"])
    assert source.read() == source.value


def test_C7_pycache_is_a_file(source):
    (source.file.parent / "__pycache__").write_text("")
    assert not source.write()
    assert source.read() is None
    assert disk_cache.find(source.path) == []


def test_C7_an_interpreter_without_caches(source, monkeypatch):
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    assert disk_cache.location(source.path, TAG) is None
    assert not source.write()
    assert source.read() is None
    assert disk_cache.find(source.path) == []


@pytest.mark.parametrize("name", ["<stdin>", "<frozen os>", "no/such/file.py", "archive.zip/pkg/mod.py", "nul\0.py"])
def test_F8_what_is_no_file_has_no_cache(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("archive.zip").write_bytes(b"")
    assert not disk_cache.write(name, TAG, b"8 bytes.", [1])
    assert disk_cache.read(name, TAG, lambda: b"8 bytes.") == []
    assert os.listdir(tmp_path) == ["archive.zip"]


def test_what_cannot_be_marshalled_is_not_written(source):
    assert not disk_cache.write(source.path, TAG, source.hash, [{"f": object()}])
    assert source.read() is None


def test_C11_a_prefix_for_caches_is_honoured(source, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "elsewhere"))
    assert source.write()
    assert source.cached.is_relative_to(tmp_path / "elsewhere")
    assert source.read() == source.value
    assert disk_cache.find(source.path) == [source.cached]
    assert disk_cache.find(source.file.parent) == [source.cached]
    assert not (source.file.parent / "__pycache__").exists()


def test_C11_compileall_does_not_touch_the_cache(source):
    source.write()
    plain = py_compile.compile(source.path, doraise=True)
    assert Path(plain) != source.cached
    assert source.read() == source.value


def test_D3_levels_of_optimisation_have_files_of_their_own(source):
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        from cassette_import.specialization import disk_cache as cache
        print(cache.read(sys.argv[2], "tag", lambda: b"8 bytes."))
        cache.write(sys.argv[2], "tag", b"8 bytes.", [sys.flags.optimize])
    """
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONOPTIMIZE": ""}
    outputs = []
    for options in [[], ["-O"], ["-OO"], [], ["-O"]]:
        command = [sys.executable, *options, "-c", textwrap.dedent(program), str(ROOT), source.path]
        outputs.append(subprocess.check_output(command, env=environment, text=True).strip())
    assert outputs == ["[]", "[]", "[]", "[0]", "[1]"]
    assert len(disk_cache.find(source.path)) == 3


def test_find_returns_the_cache_files_of_this_source_and_no_others(source):
    source.write()
    source.write("other2")
    names = ["mod.n.py", "mod2.py", "__init__.py"]
    for name in names:
        Source(source.file.parent / name).write()
    py_compile.compile(source.path, doraise=True)
    folder = source.cached.parent
    other_python = folder / "mod.cpython-399.opt-2cassette9x.pyc"
    left_over = folder / (source.cached.name + ".123-456-abcd.tmp")
    for file in [other_python, left_over, folder / f"mod.{sys.implementation.cache_tag}-pytest-9.pyc"]:
        file.write_bytes(b"")
    expected = {source.cached, Path(disk_cache.location(source.path, "other2")), other_python, left_over}
    assert set(disk_cache.find(source.path)) == expected
    assert len(disk_cache.find(source.file.parent)) == len(expected) + len(names)
    assert set(disk_cache.find(source.file.parent / "mod.n.py")).isdisjoint(expected)


def test_find_of_a_script_without_a_suffix(tmp_path):
    script, other = Source(tmp_path / "script"), Source(tmp_path / "script2.py")
    assert script.write()
    assert other.write()
    assert disk_cache.find(script.path) == [script.cached]


def test_clear_removes_cache_files_only(source):
    source.write()
    plain = Path(py_compile.compile(source.path, doraise=True))
    below = Source(source.file.parent / "sub" / "deep.py")
    below.write()
    assert set(disk_cache.clear([source.path, source.file.parent])) == {source.cached, below.cached}
    assert plain.exists()
    assert source.file.exists()
    assert disk_cache.find(source.file.parent) == []
    assert disk_cache.clear([source.path, "no/such/folder"]) == []
