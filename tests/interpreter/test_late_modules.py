"""Late modules: what they import, and that they act as modules."""

import pytest
from helpers.command_line import run

from cassette_import.interpreter.late_modules import LateModule, execute_all, late


def test_F12_late_modules_import_nothing_but_modules_of_cassette_import(tmp_path):
    program = """
import sys
from cassette_import import Context, install
from cassette_import.interpreter.late_modules import execute_all

before = set(sys.modules)
execute_all()
print(*sorted(set(sys.modules) - before))
"""
    outcome = run("-S", "-c", program, folder=tmp_path)
    names = outcome.stdout.split()
    assert "cassette_import.rewriting.rewriter" in names
    assert [name for name in names if not name.startswith("cassette_import.")] == []


def test_a_late_module_is_executed_when_an_attribute_is_read():
    (module,) = late("xml", "sax")
    assert not hasattr(module, "__path__")
    assert module.parse.__module__ == "xml.sax"
    assert "parse" in vars(module)


def test_a_missing_attribute_of_a_late_module_is_an_attribute_error():
    (module,) = late("xml", "sax")
    with pytest.raises(AttributeError, match=r"module 'xml\.sax' has no attribute 'nothing'"):
        _ = module.nothing


def test_a_late_module_may_have_attributes_of_any_name(tmp_path, monkeypatch):
    (tmp_path / "odd_names.py").write_text("def _name(): return 1\ndef execute(): return 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = LateModule("odd_names")
    assert (module.execute(), module._name()) == (2, 1)
    execute_all()
    assert (module.execute(), module._name()) == (2, 1)
