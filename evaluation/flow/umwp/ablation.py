"""What each part of the classifier does alone: the templates, and the expressions.

The paper tells what is lost where replies are compared with templates only; expressions alone
stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluation.flow.umwp.classifying import EXPRESSION, TEMPLATE
from evaluation.flow.umwp.expressions import expression_in
from evaluation.flow.umwp.judged import Judged, taken_of
from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.methods.cells import Booleans
from evaluation.methods.inference.clustered import Estimate
from evaluation.methods.umwp.noticing import f1_lost, rates

BOTH, TEMPLATES, EXPRESSIONS = "both", "templates", "expressions"
NAMES = ("precision", "recall", "f1")
LOST = "f1_lost"


class AblationRow(NamedTuple):
    """A row of ablation.csv: a number of one system in one form, by a part of the classifier.

    `part` is both, templates or expressions; `metric` precision, recall, f1, and f1_lost: that of
    both minus that of the part.
    """

    system: str
    form: str
    part: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None

    @classmethod
    def of(cls, about: tuple[str, str, str], metric: str, found: Estimate) -> AblationRow:
        """Return an estimate's row; `about` is system, form and part."""
        return cls(*about, metric, found.value, found.low, found.high, found.n, found.reason)


def ablation(
    judged: Mapping[tuple[str, str], Sequence[Judged]], parameters: UmwpParameters
) -> Iterator[AblationRow]:
    """Yield the rows of each system and form."""
    draws = (parameters.bootstrap, parameters.seed)
    for (system, form), replies in judged.items():
        both = taken_of(replies)
        for part, positive in _parts(replies, parameters.rules).items():
            taken = replace(both, positive=positive)
            found = rates(taken, *draws)
            for name in NAMES:
                yield AblationRow.of((system, form, part), name, found[name])
            if part != BOTH:
                lost = f1_lost(both, taken, *draws)
                yield AblationRow.of((system, form, part), LOST, lost)


def _parts(replies: Sequence[Judged], rules: str) -> dict[str, Booleans]:
    template = np.array([one.classified.by == TEMPLATE for one in replies], dtype=np.bool_)
    # A reply that a template decided may hold an expression as well.
    expression = np.array(
        [
            one.classified.by == EXPRESSION
            or (
                one.classified.by == TEMPLATE
                and one.problem.is_math
                and expression_in(one.reply.text, rules) is not None
            )
            for one in replies
        ],
        dtype=np.bool_,
    )
    return {BOTH: template | expression, TEMPLATES: template, EXPRESSIONS: expression}
