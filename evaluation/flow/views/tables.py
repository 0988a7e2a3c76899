"""All views as tables: a row for each question and model, a row for each model and view."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.flow.views.finding import StandingRow, disagreement_of
from evaluation.flow.views.summary import ViewsSummary
from evaluation.flow.views.together import Together
from evaluation.methods.undefined import or_none

# Why a number of a model over all questions has no interval, and a cell no number.
OVER_ALL = "over_all_questions"
NOT_LOOKED_AT = "not_looked_at"


def cell_header(together: Together) -> tuple[str, ...]:
    """Return the columns of views.csv."""
    names = [view.name for view in together.views]
    return ("question", "model", *names, "disagreement", "best_view", "worst_view", "reason")


def cell_rows(together: Together) -> Iterator[tuple[object, ...]]:
    """Yield views.csv: the models of each question, an empty cell for a missing number.

    `reason` names the views without a number and why, as VIEW: CODE, parted by semicolons.
    """
    found = disagreement_of(together)
    sides = [together.views[at].name for at in together.sides]
    names = [view.name for view in together.views]
    numbers = together.values.transpose(2, 1, 0).tolist()
    strength = found.strength.T.tolist()
    for question, (of_models, strong) in enumerate(zip(numbers, strength, strict=True)):
        for model, (cells, apart) in enumerate(zip(of_models, strong, strict=True)):
            values = [or_none(cell) for cell in cells]
            missing = [
                f"{names[at]}: {together.reasons.get((at, model, question), NOT_LOOKED_AT)}"
                for at, value in enumerate(values)
                if value is None
            ]
            ends = (None, None)
            if not np.isnan(apart):
                best, worst = found.highest[model, question], found.lowest[model, question]
                ends = (sides[best], sides[worst])
            yield (
                together.questions[question],
                together.models[model],
                *values,
                or_none(apart),
                *ends,
                "; ".join(missing),
            )


def model_rows(summary: ViewsSummary) -> Iterator[StandingRow]:
    """Yield models.csv: each model in each view of answers, then in those of models."""
    for model in summary.models:
        yield from (row for row in summary.standings if row.model == model)
        for one in summary.of_models:
            if one.model == model:
                nothing = (None, None, 0, None, None, None, 0, None, 0)
                reason = one.reason or OVER_ALL
                yield StandingRow(model, one.view, one.value, *nothing, reason)
