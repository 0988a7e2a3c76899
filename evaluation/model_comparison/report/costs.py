"""Money, time and tokens spent on models' answers, where recorded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.db.models.fields.json import KeyTextTransform

from evaluation.core.messages.reasons import Reasoned
from evaluation.models import LLMResponse, Run

# As `ask` calls them, beside an answer.
SECONDS, COST = "seconds", "cost"
# Taken from an earlier asking: it cost nothing this time, which says nothing of the model.
COPIED = "copied"
TOKENS = ("prompt_tokens", "completion_tokens")
NOT_TOLD = "cost_not_told"


@dataclass(frozen=True)
class Costs(Reasoned):
    """Cost, time and tokens of one model's answers in a run.

    Attributes
    ----------
    seconds, cost, tokens : means an answer over the answers that came with the number, of which
        there are `n_timed`, `n_priced`, `n_counted`; None without any. Tokens are those of the
        prompt and of the reply together.
    total_cost : sum over the answers that came with a cost, in the currency of the price.
    reason : code of why one of the numbers is None; "" if none is.
    """

    seconds: float | None
    cost: float | None
    total_cost: float | None
    tokens: float | None
    n_timed: int
    n_priced: int
    n_counted: int
    reason: str

    @classmethod
    def of(cls, answers: Iterable[tuple[Any, ...]]) -> Self:
        """Sum up answers, each with seconds, cost, prompt tokens and reply tokens."""
        seconds: list[float] = []
        costs: list[float] = []
        tokens: list[float] = []
        for taken, paid, *counted in answers:
            seconds += _known(taken)
            costs += _known(paid)
            known = _known(*counted)
            tokens += [sum(known)] if known else []
        numbers = (_mean(seconds), _mean(costs), sum(costs) if costs else None, _mean(tokens))
        reason = NOT_TOLD if None in numbers else ""
        return cls(*numbers, len(seconds), len(costs), len(tokens), reason)


def costs_of(run: Run) -> Mapping[int, Costs]:
    """Return the costs of the answers a run scored, by model key; one query."""
    rows = LLMResponse.objects.filter(scores__run=run).values_list("model_id", *told_in("extra"))
    return by_model(rows.iterator(5000))


def told_in(extra: str) -> list[KeyTextTransform]:
    """Return the columns with an answer's cost, given the query path to its `extra`."""
    return [KeyTextTransform(key, extra) for key in (COPIED, SECONDS, COST, *TOKENS)]


def by_model(rows: Iterable[Sequence[Any]]) -> Mapping[int, Costs]:
    """Return the costs by model key, from rows of the key and the columns of `told_in`."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for model, copied, *values in rows:
        if copied is None:
            found.setdefault(model, []).append(tuple(values))
    return {model: Costs.of(values) for model, values in found.items()}


def _known(*values: Any) -> list[float]:
    return [number for number in map(_number, values) if number is not None]


def _number(value: Any) -> float | None:
    """Return a number stored as a number or text; None for any other value."""
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


NOTHING = Costs.of([])
