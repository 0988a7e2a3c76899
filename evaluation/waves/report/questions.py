"""Find the questions whose answers moved between two waves, and the facts that changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import F

from annotations.web.texts import EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.core.stats.statistics.descriptive import (
    compute_cosine_distances,
    estimate_chance_distances,
)
from evaluation.models import CrowdFact, ExemplaryAnswer, Run
from evaluation.waves.storage import Shift

FAR = 2.0
"""Ratio of distance to chance distance from which a question has moved: a rule of thumb.

It is used where there is no test, for example because the vectors of a run were deleted.
"""


@dataclass(frozen=True)
class FactChange:
    """Values on which workers agree for one kind of fact, in each wave; empty if none.

    Attributes
    ----------
    slot : kind of fact, as "year". before, after : sorted values on which workers agree.
    """

    slot: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class QuestionDrift:
    """A question of both waves, with the distance between its answers and the changed facts.

    Attributes
    ----------
    distance : 1 - cosine of the exemplary answers, from 0 to 2; None where they cannot be compared.
    by_chance : expected distance of two samples of one crowd of these sizes and dispersions.
    n_before, n_after : number of answers. before, after : the answer nearest to the exemplary
        answer; "" if it was withdrawn.
    facts : slots in which workers agree on other values than before.
    shift : result of the permutation test; None where it was not made.
    """

    question: UUID
    name: str
    distance: float | None
    by_chance: float | None
    n_before: int
    n_after: int
    before: str
    after: str
    facts: tuple[FactChange, ...]
    shift: Shift | None = None

    @property
    def times(self) -> float | None:
        """Distance divided by the distance expected by chance; None if unknown or if that is 0."""
        if self.distance is None or not self.by_chance:
            return None
        return self.distance / self.by_chance

    @property
    def moved(self) -> bool:
        """Whether the consensus moved at least twice the distance expected by chance."""
        return self.times is not None and self.times >= FAR

    @property
    def moved_beyond_chance(self) -> bool | None:
        """Whether the permutation test is significant; None if not tested."""
        return None if self.shift is None else self.shift.moved

    @property
    def marked(self) -> bool:
        """Whether the question counts as moved: by the test, else by the rule of thumb."""
        return self.moved if self.shift is None else self.shift.moved

    @property
    def apart(self) -> float | None:
        """Distance between exemplary answers, else between mean answers; None without either."""
        if self.distance is None and self.shift is not None:
            return self.shift.distance
        return self.distance


def load_drifts(
    before: Run, after: Run, shifts: Mapping[str, Shift], *, comparable: bool
) -> list[QuestionDrift]:
    """Return how the answers to each question of both runs drifted; makes six queries.

    Questions that count as moved come first, then the largest distance beyond chance. `comparable`
    : whether scores are on one scale; otherwise there are no distances of exemplary answers.
    """
    rows_before, rows_after = _load_exemplars(before), _load_exemplars(after)
    common = sorted(rows_before.keys() & rows_after.keys())
    distances = _compute_distances(
        [rows_before[name] for name in common], [rows_after[name] for name in common]
    )
    chance = estimate_chance_distances(
        *(
            np.array([part[name][column] for name in common], dtype=np.float64)
            for part in (rows_before, rows_after)
            for column in ("dispersion", "n_answers")
        )
    )
    facts = _load_agreed_facts(before), _load_agreed_facts(after)
    questions = []
    for index, name in enumerate(common):
        distance, by_chance = distances[index], float(chance[index])
        questions.append(
            QuestionDrift(
                question=rows_after[name]["public"],
                name=name,
                distance=distance if comparable else None,
                by_chance=by_chance if comparable and not np.isnan(by_chance) else None,
                n_before=rows_before[name]["n_answers"],
                n_after=rows_after[name]["n_answers"],
                before=shorten_text(rows_before[name]["nearest"]),
                after=shorten_text(rows_after[name]["nearest"]),
                facts=_find_changes(facts[0].get(name, {}), facts[1].get(name, {})),
                shift=shifts.get(name),
            )
        )
    return sorted(questions, key=_sort_moved_first, reverse=True)


def _load_exemplars(run: Run) -> dict[str, dict[str, Any]]:
    """Return exemplary answer, number of answers and dispersion of each question, by its id."""
    rows = ExemplaryAnswer.objects.filter(run=run).values(
        *("n_answers", "dispersion", "dimension", "vector"),
        name=F("question__external_id"),
        public=F("question__public_id"),
        nearest=select_beginning("nearest_response__text", EXCERPT_SHOWN),
    )
    return {row["name"]: dict(row) for row in rows}


def _compute_distances(
    rows_before: list[dict[str, Any]], rows_after: list[dict[str, Any]]
) -> list[float | None]:
    """Return the distance of each question's two exemplars; None if not comparable."""
    distances: list[float | None] = [None] * len(rows_before)
    comparable = [
        index
        for index, (a, b) in enumerate(zip(rows_before, rows_after, strict=True))
        if a["vector"] and b["vector"] and a["dimension"] == b["dimension"]
    ]
    # Questions may have different dimensions; each dimension is one matrix product.
    for dimension in {rows_before[index]["dimension"] for index in comparable}:
        indexes = [index for index in comparable if rows_before[index]["dimension"] == dimension]
        computed = compute_cosine_distances(
            *(
                np.stack(
                    [np.frombuffer(rows_of_wave[index]["vector"], dtype="<f4") for index in indexes]
                )
                for rows_of_wave in (rows_before, rows_after)
            )
        )
        for index, distance in zip(indexes, computed, strict=True):
            # NaN: a vector of length 0 has no direction.
            distances[index] = None if np.isnan(distance) else float(distance)
    return distances


def _load_agreed_facts(run: Run) -> dict[str, dict[str, set[str]]]:
    """Return the values on which workers agree, by question id and slot; one query."""
    rows = CrowdFact.objects.filter(run=run, state=CrowdFact.State.AGREED).order_by("place")
    facts: dict[str, dict[str, set[str]]] = {}
    for name, slot, value in rows.values_list("question__external_id", "slot", "value"):
        facts.setdefault(name, {}).setdefault(slot, set()).add(value)
    return facts


def _find_changes(
    before: dict[str, set[str]], after: dict[str, set[str]]
) -> tuple[FactChange, ...]:
    """Return the slots whose agreed values differ, sorted by name."""
    return tuple(
        FactChange(slot, tuple(sorted(old_values)), tuple(sorted(new_values)))
        for slot in sorted(before.keys() | after.keys())
        if (old_values := before.get(slot, set())) != (new_values := after.get(slot, set()))
    )


def _sort_moved_first(drift: QuestionDrift) -> tuple[bool, bool, float, int]:
    """Return the ascending sort key of a drift: moved first, then distance and changed facts.

    Questions without a distance come before those with one; the caller sorts in reverse.
    """
    has_distance = drift.apart is not None
    excess = (drift.apart or 0.0) - (drift.by_chance or 0.0)
    return drift.marked, has_distance, excess if has_distance else 0.0, len(drift.facts)
