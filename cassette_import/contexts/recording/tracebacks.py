"""Tracebacks without the frames of cassette_import, where these cannot be hidden."""

from __future__ import annotations

import types

__all__ = ["without_frames_in"]


def without_frames_in(traceback: types.TracebackType | None, folder: str) -> types.TracebackType | None:
    """The traceback without the entries of files in a folder."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(folder):
        traceback = traceback.tb_next
    entry = traceback
    while entry is not None:
        following = entry.tb_next
        while following is not None and following.tb_frame.f_code.co_filename.startswith(folder):
            following = following.tb_next
        entry.tb_next = following
        entry = following
    return traceback
