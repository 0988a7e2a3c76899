"""Facts of a question as an exported scorer stores them, and the facts an answer contradicts.

Stored are, for each kind of fact, the values that two people or more state: a value of one person
changes no verdict on a model's answer, and might identify the person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.grading.facts.methods import Consensus, ValueState, Verdict
from evaluation.grading.facts.run.slots import SlotConsensus
from evaluation.grading.facts.texts import FactReader, TextFact
from evaluation.grading.facts.texts.names import WordCounts
from evaluation.grading.facts.texts.units import Unit

FEWEST_PEOPLE = 2
"""People who must state a value or use a word for it to be exported."""


@dataclass(frozen=True)
class ContradictedFact:
    """A value of an answer that contradicts the value on which people agree.

    Attributes
    ----------
    slot : the kind of fact. n_crowd : people who state the crowd's value, of the `of` who state
        the kind.
    """

    slot: str
    value: str
    crowd: str
    n_crowd: int
    of: int

    def __str__(self) -> str:
        return f"{self.slot}: {self.value} (people: {self.crowd}, {self.n_crowd} of {self.of})"


@dataclass(frozen=True)
class QuestionFacts:
    """The values on which the answers to a question agree, by kind of fact, and the usual unit."""

    wording: str
    unit: Unit | None
    slots: tuple[SlotConsensus, ...]

    def find_contradicted(self, answer: str, words: WordCounts) -> list[ContradictedFact]:
        """Return the values of an answer that contradict those on which people agree.

        `words` are the counts of people's words, by which names are found.
        """
        stated = FactReader([answer], words).read_facts(self.wording, [answer], self.unit)[0]
        by_slot: dict[str, list[TextFact]] = {}
        for one in stated:
            by_slot.setdefault(one.slot, []).append(one)
        return [
            fact
            for slot in self.slots
            for fact in _iterate_contradicted(slot, by_slot.get(slot.slot, []))
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the facts of the question as plain values for JSON."""
        return {
            "wording": self.wording,
            "unit": None if self.unit is None else list(self.unit),
            "slots": [_encode_slot(slot) for slot in self.slots],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> QuestionFacts:
        """Return the facts from plain values that `to_json` returned."""
        unit = None if values["unit"] is None else Unit(*values["unit"])
        return cls(values["wording"], unit, tuple(map(_decode_slot, values["slots"])))


def _iterate_contradicted(
    slot: SlotConsensus, own: Sequence[TextFact]
) -> Iterator[ContradictedFact]:
    """Yield the values of an answer that contradict the consensus on their kind of fact."""
    for judged_value in slot.judge_values(own):
        if (
            judged_value.verdict == Verdict.CONTRADICTS
            and judged_value.value is not None
            and judged_value.crowd is not None
        ):
            yield ContradictedFact(
                slot.slot,
                own[judged_value.value].shown,
                slot.shown[judged_value.crowd],
                judged_value.n_crowd,
                judged_value.of,
            )


def _encode_slot(slot: SlotConsensus) -> dict[str, Any]:
    """Return the values of one kind of fact as JSON values, without those of one person only."""
    crowd = slot.crowd
    kept = [at for at, n in enumerate(crowd.backed.tolist()) if n >= FEWEST_PEOPLE]
    names = {code: key for key, code in slot.codes.items() if key}
    return {
        "slot": slot.slot,
        "asks_names": slot.asks_names,
        "n": crowd.n,
        "weight": crowd.weight,
        "values": [
            {
                "shown": slot.shown[at],
                "low": float(crowd.low[at]),
                "high": float(crowd.high[at]),
                "name": names.get(int(crowd.low[at]), "") if names else "",
                "backed": int(crowd.backed[at]),
                "weighted": float(crowd.weighted[at]),
                "bound": int(crowd.bound[at]),
                "state": crowd.states[at].value,
                # Only of agreed values the words decide which one an answer contradicts.
                "stems": sorted(slot.contexts[at])
                if at < len(slot.contexts) and crowd.states[at] == ValueState.AGREED
                else [],
            }
            for at in kept
        ],
        "has_contexts": bool(slot.contexts),
    }


def _decode_slot(stored: Mapping[str, Any]) -> SlotConsensus:
    """Return the values of one kind of fact from those of `_encode_slot`."""
    values = stored["values"]

    def column(name: str, dtype: Any) -> Any:
        return np.array([value[name] for value in values], dtype=dtype)

    crowd = Consensus(
        shown=np.arange(len(values)),
        low=column("low", np.float64),
        high=column("high", np.float64),
        backed=column("backed", np.int64),
        weighted=column("weighted", np.float64),
        bound=column("bound", np.int64),
        n=stored["n"],
        weight=stored["weight"],
        states=tuple(ValueState(value["state"]) for value in values),
    )
    return SlotConsensus(
        stored["slot"],
        crowd,
        {value["name"]: int(value["low"]) for value in values if value["name"]},
        [value["shown"] for value in values],
        [frozenset(value["stems"]) for value in values] if stored["has_contexts"] else [],
        stored["asks_names"],
    )


def encode_words(words: WordCounts) -> dict[str, Any]:
    """Return the word counts as plain values for JSON."""
    return {
        "inside": dict(sorted(words.inside.items())),
        "first": dict(sorted(words.first.items())),
        "small": dict(sorted(words.small.items())),
        "capitals": words.capitals,
        "words": words.words,
    }


def decode_words(stored: Mapping[str, Any]) -> WordCounts:
    """Return the word counts from plain values that `encode_words` returned."""
    inside, first, small = (Counter(stored[name]) for name in ("inside", "first", "small"))
    return WordCounts(inside, first, small, stored["capitals"], stored["words"])
