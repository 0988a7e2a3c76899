"""Which answers of the crowd moved between two waves, and which facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import F

from annotations.web.texts import EXCERPT_SHOWN, beginning, shortened
from evaluation.methods.statistics.drift import chance_distances, cosine_distances
from evaluation.models import CrowdFact, ExemplaryAnswer, Run
from evaluation.steps.waves import Shift

FAR = 2.0
"""Times what chance alone brings, from which a question is said to have moved: a rule of thumb.

It says so where there is no test, as where the vectors of a run are gone.
"""


@dataclass(frozen=True)
class FactChange:
    """What people agree on of one kind of thing, in each wave; empty where on nothing."""

    slot: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class QuestionDrift:
    """A question of both waves.

    Attributes
    ----------
    distance : 1 - cosine of the exemplary answers; None where they cannot be compared. by_chance :
        how far two samples of one crowd lie apart on average, by their size and disagreement.
    before, after : the answer nearest to each, "" where it was withdrawn.
    facts : where people agree on something else than before.
    shift : how surely the answers moved; None where that is not tested.
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
        """How many times as far as chance brings; None where that is not known or nothing."""
        if self.distance is None or not self.by_chance:
            return None
        return self.distance / self.by_chance

    @property
    def moved(self) -> bool:
        """Whether the consensus moved twice as far as chance tends to bring: the rule of thumb."""
        return self.times is not None and self.times >= FAR

    @property
    def moved_beyond_chance(self) -> bool | None:
        """Whether the answers moved beyond what chance brings; None where that is not tested."""
        return None if self.shift is None else self.shift.moved

    @property
    def marked(self) -> bool:
        """Whether it is said to have moved: by the test, without one by the rule of thumb."""
        return self.moved if self.shift is None else self.shift.moved

    @property
    def apart(self) -> float | None:
        """How far the exemplary answers lie apart, else the mean answers; None for neither."""
        if self.distance is None and self.shift is not None:
            return self.shift.distance
        return self.distance


def drifts(
    before: Run, after: Run, found_shifts: Mapping[str, Shift], *, comparable: bool
) -> list[QuestionDrift]:
    """Return the questions of both runs; six queries.

    Those that are said to have moved stand first, then the furthest beyond chance. Without
    `comparable` vectors there are no distances of exemplary answers.
    """
    one, other = _exemplars(before), _exemplars(after)
    common = sorted(one.keys() & other.keys())
    distances = _distances([one[name] for name in common], [other[name] for name in common])
    chance = chance_distances(
        *(
            np.array([part[name][column] for name in common], dtype=np.float64)
            for part in (one, other)
            for column in ("dispersion", "n_answers")
        )
    )
    facts = _agreed(before), _agreed(after)
    found = []
    for place, name in enumerate(common):
        distance, by_chance = distances[place], float(chance[place])
        found.append(
            QuestionDrift(
                question=other[name]["public"],
                name=name,
                distance=distance if comparable else None,
                by_chance=by_chance if comparable and not np.isnan(by_chance) else None,
                n_before=one[name]["n_answers"],
                n_after=other[name]["n_answers"],
                before=shortened(one[name]["nearest"]),
                after=shortened(other[name]["nearest"]),
                facts=_changes(facts[0].get(name, {}), facts[1].get(name, {})),
                shift=found_shifts.get(name),
            )
        )
    return sorted(found, key=_beyond, reverse=True)


def _exemplars(run: Run) -> dict[str, dict[str, Any]]:
    rows = ExemplaryAnswer.objects.filter(run=run).values(
        *("n_answers", "dispersion", "dimension", "vector"),
        name=F("question__external_id"),
        public=F("question__public_id"),
        nearest=beginning("nearest_response__text", EXCERPT_SHOWN),
    )
    return {row["name"]: dict(row) for row in rows}


def _distances(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[float | None]:
    """Return the distance of each pair; None where one has no vector, or another dimension."""
    found: list[float | None] = [None] * len(one)
    rows = [
        place
        for place, (a, b) in enumerate(zip(one, other, strict=True))
        if a["vector"] and b["vector"] and a["dimension"] == b["dimension"]
    ]
    for dimension in {one[place]["dimension"] for place in rows}:
        places = [place for place in rows if one[place]["dimension"] == dimension]
        told = cosine_distances(
            *(
                np.stack([np.frombuffer(part[place]["vector"], dtype="<f4") for place in places])
                for part in (one, other)
            )
        )
        for place, distance in zip(places, told, strict=True):
            found[place] = None if np.isnan(distance) else float(distance)
    return found


def _agreed(run: Run) -> dict[str, dict[str, set[str]]]:
    """Return the values on which people agree, by question and slot."""
    rows = CrowdFact.objects.filter(run=run, state=CrowdFact.State.AGREED).order_by("place")
    found: dict[str, dict[str, set[str]]] = {}
    for name, slot, value in rows.values_list("question__external_id", "slot", "value"):
        found.setdefault(name, {}).setdefault(slot, set()).add(value)
    return found


def _changes(before: dict[str, set[str]], after: dict[str, set[str]]) -> tuple[FactChange, ...]:
    return tuple(
        FactChange(slot, tuple(sorted(one)), tuple(sorted(other)))
        for slot in sorted(before.keys() | after.keys())
        if (one := before.get(slot, set())) != (other := after.get(slot, set()))
    )


def _beyond(drift: QuestionDrift) -> tuple[bool, bool, float, int]:
    """Sort by whether and how far a question moved beyond chance, without distances by facts."""
    known = drift.apart is not None
    beyond = (drift.apart or 0.0) - (drift.by_chance or 0.0)
    return drift.marked, known, beyond if known else 0.0, len(drift.facts)
