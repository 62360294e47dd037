"""`dataclasses.replace` gives numbers to the new object, whatever plain numbers the other fields hold."""

import dataclasses
from typing import ClassVar

import pytest

from cassette_import.contexts.autodiff import derivative, gradient


@dataclasses.dataclass
class Plain:
    x: float
    scale: float = 2.0


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: float
    scale: float = 2.0
    tags: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Derived(Plain):
    kind: ClassVar[str] = "derived"
    twice: float = dataclasses.field(init=False)

    def __post_init__(self):
        if self.x < 0.0:
            raise ValueError("negative")
        self.twice = self.x * 2.0


@pytest.mark.parametrize("kind", [Plain, Frozen, Derived])
@pytest.mark.parametrize("slope", [derivative, lambda f, x: gradient(f, x)[0]], ids=["derivative", "gradient"])
def test_a_replaced_field_keeps_its_derivative_beside_plain_numbers(kind, slope):
    assert slope(lambda x: dataclasses.replace(kind(1.0), x=x).x * kind(1.0).scale, 3.0) == 2.0
    assert slope(lambda x: dataclasses.replace(kind(x), scale=3.0).x, 3.0) == 1.0
    assert slope(lambda x: dataclasses.replace(kind(1.0), scale=x).scale, 3.0) == 1.0


def test_replace_raises_what_it_raises_without_a_context():
    for change, message in ({"twice": 1.0}, "init=False"), ({"other": 1.0}, "unexpected"), ({"x": -1.0}, "negative"):
        with pytest.raises((TypeError, ValueError), match=message):
            derivative(lambda x, change=change: dataclasses.replace(Derived(x), **change).x, 3.0)
    with pytest.raises(TypeError, match="dataclass instances"):
        derivative(lambda x: dataclasses.replace(Derived, x=x).x, 3.0)
