"""Find related models: versions of one family, and one model with two strategies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

from evaluation.models import LanguageModel

Relation = Literal["version", "strategy"]


@dataclass(frozen=True)
class Related:
    """Two models that differ in version or prompting strategy only.

    Attributes
    ----------
    by : "version" (of one family, size, tuning and strategy) or "strategy" (all else alike).
    newer, older : the later and the earlier version, by when they were registered; of strategies
        the one with the passage and the one without, or in the order of their names.
    """

    by: Relation
    newer: LanguageModel
    older: LanguageModel


def related(models: Iterable[LanguageModel]) -> Iterator[Related]:
    """Yield consecutive versions, then all strategy pairs of one version.

    A model of which nobody told the family belongs to none.
    """
    known = [model for model in models if model.family]
    for versions in _alike(known, ("family", "size", "tuning", "strategy")):
        ordered = sorted(versions, key=lambda model: model.pk)
        for older, newer in pairwise(ordered):
            if older.version != newer.version:
                yield Related("version", newer, older)
    for asked in _alike(known, ("family", "size", "tuning", "version")):
        ordered = sorted(asked, key=lambda model: ("passage" not in model.strategy, model.strategy))
        for one, other in combinations(ordered, 2):
            if one.strategy != other.strategy:
                yield Related("strategy", one, other)


def relation(one: LanguageModel, other: LanguageModel) -> Related | None:
    """Return in what two models differ if only in version or strategy, else None."""
    return next(related((one, other)), None)


def _alike(
    models: Iterable[LanguageModel], fields: tuple[str, ...]
) -> Iterable[list[LanguageModel]]:
    """Return groups of models with equal values in some fields."""
    groups: dict[tuple[str, ...], list[LanguageModel]] = {}
    for model in models:
        key = tuple(getattr(model, field).strip().casefold() for field in fields)
        groups.setdefault(key, []).append(model)
    return groups.values()
