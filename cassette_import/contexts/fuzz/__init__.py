"""`fuzz`: inputs for which unmodified code raises exceptions, guided by what the code compares."""

from cassette_import.contexts.fuzz.findings import Finding
from cassette_import.contexts.fuzz.fuzzing import Findings, fuzz
from cassette_import.contexts.fuzz.running import TooSlow
from cassette_import.contexts.fuzz.strategy import inputs

__all__ = ["Finding", "Findings", "TooSlow", "fuzz", "inputs"]
