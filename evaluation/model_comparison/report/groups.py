"""Scores of a run's models by question group: category, passage and language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from evaluation.core.stats.cells import Integers
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.groups import SMALL, compute_group_means
from evaluation.model_comparison.report.scores import Asked, ScoreTable

GROUPED_BY: dict[str, Callable[[Asked], str]] = {
    "category": lambda question: question.category,
    "passage": lambda question: question.passage,
    "language": lambda question: question.language,
}
"""By what questions are grouped."""


@dataclass(frozen=True)
class ModelInGroup:
    """Mean score of a model in a question group, over `n` questions."""

    model: UUID
    name: str
    score: Estimate
    n: int


@dataclass(frozen=True)
class Group:
    """Group of questions with equal category, passage or language.

    Attributes
    ----------
    name : "" for questions of which nobody told it. n_questions : on which a model was scored.
    is_small : whether these are fewer than 10. models : in the order of the table.
    """

    name: str
    n_questions: int
    is_small: bool
    models: list[ModelInGroup]

    @property
    def best(self) -> float | None:
        """The highest mean score in the group."""
        known = [model.score.value for model in self.models if model.score.value is not None]
        return max(known, default=None)


@dataclass(frozen=True)
class GroupTable:
    """Question groups by one property, largest first."""

    by: str
    groups: list[Group]

    @property
    def n_small(self) -> int:
        """Number of groups with few questions."""
        return sum(group.is_small for group in self.groups)


def useful_names(questions: list[Asked], by: str) -> list[str] | None:
    """Return the group of each question; None if all are in one group or each in its own."""
    names = [GROUPED_BY[by](question) for question in questions]
    return names if 1 < len(set(names)) < len(names) else None


def group_tables(table: ScoreTable) -> list[GroupTable]:
    """Return the group tables by category, passage and language."""
    if not table.models:
        return []
    scored = np.flatnonzero(~np.isnan(table.scores).all(axis=0))
    questions = [table.questions[at] for at in scored.tolist()]
    found = []
    for by in GROUPED_BY:
        names = useful_names(questions, by)
        if names is not None:
            found.append(GroupTable(by, _groups(table, scored, names)))
    return found


def _groups(table: ScoreTable, columns: Integers, names: list[str]) -> list[Group]:
    sizes = {name: names.count(name) for name in dict.fromkeys(names)}
    means = [compute_group_means(scores[columns], names) for scores in table.scores]
    groups = [
        Group(
            name=name,
            n_questions=size,
            is_small=size < SMALL,
            models=[
                ModelInGroup(
                    model.public_id,
                    model.name,
                    Estimate(of[at].mean, of[at].low, of[at].high),
                    of[at].n,
                )
                for model, of in zip(table.models, means, strict=True)
            ],
        )
        for at, (name, size) in enumerate(sizes.items())
    ]
    return sorted(groups, key=lambda group: -group.n_questions)
