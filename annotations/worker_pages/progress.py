"""How far somebody is, without pressure: the part they are in, and how long their place waits."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.answering.way import AnswerPage, Way


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` pages are handed in; `part` is the one that is shown, 0 for none."""

    part: int
    done: int
    total: int
    minutes_kept: int


def progress(way: Way, page: AnswerPage | None = None) -> Progress:
    """Return how far the worker is."""
    return Progress(
        part=0 if page is None else page.number,
        done=way.n_done(),
        total=len(way.pages),
        minutes_kept=way.collection.reservation_minutes,
    )
