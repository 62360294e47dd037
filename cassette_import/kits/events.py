"""What contexts use of events: the call that runs, the active contexts, and code that events are told of."""

from __future__ import annotations

from cassette_import.runtime.dispatch.accelerated_hooks import AcceleratedHooks
from cassette_import.runtime.dispatch.call_sites import CallSite, call_site_at, characters_before, nearest_site
from cassette_import.runtime.dispatch.direct_events import QuickSite, quick_form
from cassette_import.runtime.dispatch.higher_order import CALLBACK_TAKERS, HIGHER_ORDER
from cassette_import.runtime.followed_bodies import CLOSING_RESUMES, NOT_FOLLOWED, FollowedBody
from cassette_import.runtime.module_imports import ModuleImport, importer
from cassette_import.runtime.names import is_rewritten
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.silent_logging import is_silent
from cassette_import.runtime.state import ACTIVE, INACTIVE, Activation, hook_activation

__all__ = [
    "ACTIVE",
    "CALLBACK_TAKERS",
    "CLOSING_RESUMES",
    "HIGHER_ORDER",
    "INACTIVE",
    "NOT_FOLLOWED",
    "OVERDUBBED",
    "AcceleratedHooks",
    "Activation",
    "CallSite",
    "FollowedBody",
    "ModuleImport",
    "QuickSite",
    "call_site_at",
    "characters_before",
    "hook_activation",
    "importer",
    "is_rewritten",
    "is_silent",
    "nearest_site",
    "quick_form",
]
