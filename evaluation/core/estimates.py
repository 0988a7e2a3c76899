"""Define records that several reports share: exclusions, computed pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from evaluation.core.messages.reasons import describe_reason
from evaluation.core.stats.inference.significance import Correction

T = TypeVar("T")
HOLM: Correction = "holm"


CORRECTED_BY = {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}
"""Corrections for the number of pairs, and what people call them."""


@dataclass(frozen=True)
class Exclusion:
    """Number of items that a study excluded for one reason; `words` is the reason as a sentence."""

    count: int
    reason: str
    words: str


def list_exclusions(exclusions: Iterable[Mapping[str, Any]]) -> list[Exclusion]:
    """Return a study's stored exclusions, one entry per reason, with the reason in words."""
    return [
        Exclusion(exclusion["count"], exclusion["reason"], describe_reason(exclusion["reason"]))
        for exclusion in exclusions
    ]


@dataclass(frozen=True)
class ComputedPage(Generic[T]):
    """One page of rows of a list that is read as a whole and sorted in Python.

    Lists that the database orders are shown by `annotations.web.paging`.

    Attributes
    ----------
    start : place of the first of `rows` in the list, from 0. total : length of the list.
    """

    rows: Sequence[T]
    start: int
    total: int

    @property
    def after(self) -> int:
        """Number of rows before the page, which is the index of its first row in the list."""
        return self.start

    @property
    def end(self) -> int:
        """Index in the whole list of the first row after this page."""
        return self.start + len(self.rows)

    @property
    def next(self) -> int | None:
        """Index in the list at which the next page begins; None on the last page."""
        return self.end if self.end < self.total else None
