"""Every two systems on the problems of both: exact McNemar tests, corrected by Holm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evaluation.flow.umwp.classifying import ANSWERABLE
from evaluation.flow.umwp.judged import Judged
from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.methods.inference.comparison import compare_models

TOLD_APART, ANSWERED = "told_apart", "answered"


class ComparisonRow(NamedTuple):
    """A row of comparisons.csv: two systems in one form, over the `n` problems of both.

    `measure` told_apart: problems that were taken for what they are, unanswerable or answerable;
    answered: answerable problems that were answered rightly. `only_system` and `only_other` are
    problems that one of the two got right; `difference` is (only_system - only_other) / n, its 95%
    interval `low` to `high`. `adjusted_p_value` is Holm's over the pairs of the form and measure.
    """

    form: str
    measure: str
    system: str
    other: str
    n: int
    only_system: int
    only_other: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p_value: float | None
    smallest_detectable: float | None
    reason: str | None


def compared(
    judged: Mapping[tuple[str, str], Sequence[Judged]], parameters: UmwpParameters
) -> Iterator[ComparisonRow]:
    """Yield the pairs of each form and measure; replies are those to problems with a label."""
    for form in dict.fromkeys(form for _, form in judged):
        systems = [system for system, of in judged if of == form]
        if len(systems) < 2:
            continue
        for measure, good in _MEASURES.items():
            told = [
                {
                    one.problem.id: right
                    for one in judged[system, form]
                    if (right := good(one)) is not None
                }
                for system in systems
            ]
            yield from _pairs(form, measure, systems, told, parameters)


def _told_apart(one: Judged) -> bool | None:
    """Whether a problem was taken for what it is; a refused reply took it for nothing."""
    return one.positive if not one.problem.answerable else one.classified.taken_as == ANSWERABLE


def _answered(one: Judged) -> bool | None:
    return one.right if one.problem.answerable and one.problem.answers else None


_MEASURES: Mapping[str, Callable[[Judged], bool | None]] = {
    TOLD_APART: _told_apart,
    ANSWERED: _answered,
}


def _pairs(
    form: str,
    measure: str,
    systems: Sequence[str],
    told: Sequence[Mapping[str, bool]],
    parameters: UmwpParameters,
) -> Iterator[ComparisonRow]:
    problems = list(dict.fromkeys(item for one in told for item in one))
    scores = np.array(
        [[float(one[item]) if item in one else np.nan for item in problems] for one in told]
    ).reshape(len(systems), len(problems))
    row_of = dict(zip(systems, scores, strict=True))
    for one in compare_models(
        scores, systems, n_draws=parameters.bootstrap, seed=parameters.seed, test="mcnemar"
    ):
        difference = row_of[one.model_a] - row_of[one.model_b]
        yield ComparisonRow(
            *(form, measure, one.model_a, one.model_b, one.n),
            int((difference > 0).sum()),
            int((difference < 0).sum()),
            *(one.difference, one.low, one.high, one.p_value, one.adjusted_p_value),
            *(one.smallest_detectable, one.reason),
        )
