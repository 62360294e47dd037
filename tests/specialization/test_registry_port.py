"""The port of the registry: what it answers without a registry, and what the registry gets when it is connected."""

import pytest

from cassette_import.specialization.registry_port import RegistryPort


class Recording:
    """A registry that notes the calls of its methods."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, *arguments)) or name


@pytest.fixture
def port():
    return RegistryPort()


def test_without_a_registry_nothing_is_specialised(port):
    plain = compile("1", "file", "exec")
    port.instrument_active()
    assert (port.wants_module_level("file"), port.wants_trampolines("file")) == (False, False)
    assert port.module_code("module", "file", b"1", plain) is plain
    assert port.cached_module_code("module", "file") is None
    assert (port.functions_left_alone("module"), port.specialised_functions("module")) == ({}, {})


def test_a_registry_gets_the_modules_that_were_listed_with_the_stamps_of_their_files(port, tmp_path):
    file = tmp_path / "one.py"
    file.write_text("1")
    status = file.stat()
    port.add_module("one", str(file))
    port.add_module("builtin", None)
    file.write_text("12")
    registry = Recording()
    port.connect(registry)
    assert registry.calls == [("add_module", "one", str(file), (status.st_mtime_ns, 1))]


def test_a_registry_does_not_get_modules_that_were_removed_before(port):
    for name in ("one", "two", "one"):
        port.add_module(name, f"nowhere/{name}.py")
    port.remove_modules(["one"])
    registry = Recording()
    port.connect(registry)
    assert registry.calls == [("add_module", "two", "nowhere/two.py", None)]


def test_a_connected_registry_gets_each_call(port):
    registry = Recording()
    port.connect(registry)
    port.add_module("one", "nowhere/one.py")
    port.remove_modules(["one"])
    port.instrument_active()
    assert port.wants_trampolines("file") == "wants_trampolines"
    assert port.module_code("one", "file", b"", None) == "module_code"
    assert [name for name, *_ in registry.calls] == [
        "add_module",
        "remove_modules",
        "instrument_active",
        "wants_trampolines",
        "module_code",
    ]
