"""Comparison of two models of a run: overall, by question and by group of questions."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np

from evaluation.core.estimates import HOLM
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import Reasoned
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.inference.corrections import Correction
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.core.stats.inference.groups import compare_by_group, compute_group_means
from evaluation.grading.results.report.comparisons import SIGNIFICANT, ModelPair, find_pair
from evaluation.grading.results.report.model_verdicts import build_pair_verdict
from evaluation.model_comparison.report.groups import GROUPED_BY, useful_names
from evaluation.model_comparison.report.questions import SAME
from evaluation.model_comparison.report.related import relation
from evaluation.model_comparison.report.rightness import RightOrWrong, right_or_wrong
from evaluation.model_comparison.report.scores import Asked, ScoreTable
from evaluation.models import LanguageModel, Run
from evaluation.runs.reports.about import RunAbout, build_about

GROUPS_SHOWN = 60


@dataclass(frozen=True)
class GroupOfPair(Reasoned):
    """A question group with both models' mean scores and their difference.

    Attributes
    ----------
    name : "" for questions of which nobody told it. n : questions that both were scored on.
    is_small : whether these are fewer than 10. adjusted_p_value : Holm's, over the groups.
    """

    name: str
    n: int
    is_small: bool
    first: Estimate
    second: Estimate
    difference: Estimate
    adjusted_p_value: float | None
    smallest_detectable: float | None
    reason: str

    @property
    def better(self) -> int:
        """Number (1 or 2) of the significantly better model; 0 if neither."""
        p, value = self.adjusted_p_value, self.difference.value
        if p is None or not value or p >= SIGNIFICANT:
            return 0
        return 1 if value > 0 else 2


@dataclass(frozen=True)
class Grouping:
    """Question groups by one property, largest first, at most 60 of `n_groups`."""

    by: str
    n_groups: int
    groups: list[GroupOfPair]

    @property
    def n_small(self) -> int:
        """Number of groups with fewer than 10 questions."""
        return sum(group.is_small for group in self.groups)


@dataclass(frozen=True)
class PairDetail:
    """Comparison of two models of a run, overall and by question group.

    Attributes
    ----------
    pair : the first one less the second one, on the questions that both were scored on.
    verdict : who is better, for a sentence.
    relation : "version" or "strategy" where they are one model but for that; else "".
    newer_first : whether the first one is the later version.
    n_first, n_second, n_equal : questions on which the first one scores higher, the second one
        does, neither does. right : who is right where there is a key; None where there is none.
    groupings : by category, passage and language, where there are any.
    """

    about: RunAbout
    pair: ModelPair
    correction: str
    verdict: Message
    relation: str
    newer_first: bool
    n_first: int
    n_second: int
    n_equal: int
    right: RightOrWrong | None
    groupings: list[Grouping]
    notices: list[str]


def pair_detail(
    run: Run, first: UUID, second: UUID, correction: Correction = HOLM
) -> tuple[PairDetail, ScoreTable] | None:
    """Return the comparison of two models, and their scores; None if the run lacks it.

    By seven queries.
    """
    pair = find_pair(run, first, second, correction)
    if pair is None:
        return None
    table = ScoreTable.of(run, [first, second])
    if len(table.models) < 2:  # what is left of a run whose model is gone
        return None
    one, other = table.of_model(first), table.of_model(second)
    models = {model.public_id: model for model in table.models}
    belonging = relation(models[first], models[second])
    gaps = one - other
    detail = PairDetail(
        about=build_about(run),
        pair=pair,
        correction=correction,
        verdict=build_pair_verdict(pair),
        relation=belonging.by if belonging else "",
        newer_first=belonging is not None and belonging.newer.public_id == first,
        n_first=int(np.count_nonzero(gaps > SAME)),
        n_second=int(np.count_nonzero(gaps < -SAME)),
        n_equal=int(np.count_nonzero(np.abs(gaps) <= SAME)),
        right=right_or_wrong(run, first, second),
        groupings=groupings(table.questions, one, other, _seed(run)),
        notices=_notices(list(models.values())),
    )
    return detail, table


def groupings(
    questions: list[Asked], first: Floats, second: Floats, seed: int = 0
) -> list[Grouping]:
    """Return the group comparisons by each property, from both models' scores per question.

    Only questions that both were scored on count. A thing that is the same for all of them, or
    another for each, tells nothing and is left out.
    """
    common = np.flatnonzero(~np.isnan(first - second))
    found = []
    for by in GROUPED_BY:
        names = useful_names([questions[at] for at in common.tolist()], by)
        if names is None:
            continue
        groups = _groups(names, first[common], second[common], seed)
        groups.sort(key=lambda group: -group.n)
        found.append(Grouping(by, len(groups), groups[:GROUPS_SHOWN]))
    return found


def _groups(names: list[str], first: Floats, second: Floats, seed: int) -> list[GroupOfPair]:
    return [
        GroupOfPair(
            name=apart.group,
            n=apart.n,
            is_small=apart.is_small,
            first=Estimate(one.mean, one.low, one.high),
            second=Estimate(other.mean, other.low, other.high),
            difference=Estimate(apart.difference, apart.low, apart.high),
            adjusted_p_value=apart.adjusted_p_value,
            smallest_detectable=apart.smallest_detectable,
            reason=apart.reason or "",
        )
        for apart, one, other in zip(
            compare_by_group(first, second, names, seed=seed),
            compute_group_means(first, names),
            compute_group_means(second, names),
            strict=True,
        )
    ]


def _seed(run: Run) -> int:
    return int(run.parameters.get("seed", 0))


def _notices(models: list[LanguageModel]) -> list[str]:
    return list(dict.fromkeys(model.notice for model in models if model.notice))
