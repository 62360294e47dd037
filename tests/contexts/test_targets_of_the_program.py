"""Targets in the program's own file, which exist only when it has begun: they change nothing but their own calls."""

import textwrap

import pytest
from helpers.command_line import cassette

PROGRAM = """
    import dataclasses

    @dataclasses.dataclass
    class Order:
        number: int = dataclasses.field(default=1)

        def doubled(self):
            return self.number * 2

    def rate(x):
        return x

    print(rate(3), Order(4).doubled())
"""
CONTEXTS = {
    "substitute": ("substitute:__main__.rate=fakes.fake,__main__.Order.doubled=fakes.fake", "0 0"),
    "faults": ("faults:target=app.rate+app.Order.doubled,delay=0", "3 8"),
    "memoize": ("memoize:functions=app.rate+__main__.Order.doubled", "3 8"),
    "taint": ("taint:sources=app.rate,sinks=app.Order.doubled", "3 8"),
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "fakes.py").write_text("def fake(*values):\n    return 0\n")
    return tmp_path


@pytest.mark.parametrize("outer", [(), ("-c", "trace"), ("-c", "noop")], ids=["alone", "in trace", "in noop"])
@pytest.mark.parametrize("name", CONTEXTS)
def test_targets_of_the_program_leave_the_calls_of_libraries_as_they_are(name, outer, folder):
    description, printed = CONTEXTS[name]
    done = cassette("run", *outer, "-c", description, "app.py", folder=folder)
    assert (done.status, done.stdout) == (0, f"{printed}\n"), done.stderr
    assert "Warning" not in done.stderr
    assert "never called" not in done.stderr
    assert "get_annotations" not in done.stderr  # what `dataclass` calls
