"""Declare what experts judge in a type of run, and on which scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.models import Run

Key = tuple[str, ...]
"""What tells one thing of a run from the others, such as system, item and language."""


@dataclass(frozen=True)
class Choice:
    """One of the judgements that an expert can choose, a grade or a label.

    Attributes
    ----------
    code : as it is stored, sent and exported; one character of it is its key as well.
    words : what it means. grade : its number, 0 to 5; None for a label without one.
    key : on the keyboard; `code` if "". Of two characters: pressed one after the other.
    """

    code: str
    words: str
    grade: float | None = None
    key: str = ""

    @property
    def pressed(self) -> str:
        """The key on the keyboard that selects this choice."""
        return self.key or self.code


@dataclass(frozen=True)
class Part:
    """A titled text that an expert reads before judging.

    Attributes
    ----------
    text : "" shows `missing` in its place.
    quoted : whether it is what is judged. folded : whether it is opened on demand.
    """

    title: str
    text: str
    missing: str = ""
    quoted: bool = False
    folded: bool = False


@dataclass(frozen=True)
class Exhibit:
    """An item for experts to judge: its key, and the texts that an expert may see.

    `parts` must not tell whose it is, nor what anybody else said of it. `stratum` is never shown:
    a sample holds the strata in their shares; all alike, it is a plain random one.
    """

    key: Key
    parts: tuple[Part, ...]
    stratum: str = ""

    def as_json(self) -> list[dict[str, Any]]:
        """Return the texts shown to an expert as plain values, ready for JSON."""
        return [dict(part.__dict__) for part in self.parts]


def load_parts(stored: Sequence[Mapping[str, Any]]) -> tuple[Part, ...]:
    """Return the texts shown to an expert from the values of `Exhibit.as_json`."""
    return tuple(Part(**part) for part in stored)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Declares the items of a run type that experts judge blindly, and the scale of judgements.

    Attributes
    ----------
    name : in addresses and with what is stored; unique within the kind.
    title : what people call it. one, many : what is judged: "answer", "answers".
    words : what an expert should know before beginning.
    question : over the choices. choices : all with a grade, or all without.
    columns : names of the parts of a key, in tables. cluster : the place of the part that
        intervals are drawn by, as what belongs to one item is alike.
    value : the column of the judgement in tables; "grade" or "label" if "".
    exhibits : all that can be judged in a run that is done, always in the same order; empty
        where there is nothing. What is in random order within one is drawn by the generator.
    machines : what programs said of the same, by who said it and by key: a grade of the same
        scale, or a code.
    """

    name: str
    title: str
    one: str
    many: str
    words: str
    question: str
    choices: tuple[Choice, ...]
    columns: tuple[str, ...] = ()
    cluster: int = 0
    value: str = ""
    exhibits: Callable[[Run, np.random.Generator], Sequence[Exhibit]] = field(
        default=lambda _run, _rng: ()
    )
    machines: Callable[[Run], Mapping[str, Mapping[Key, float | str]]] = field(default=lambda _: {})

    def __post_init__(self) -> None:
        """Raise ValueError if some choices have a grade and others only a label."""
        if len({choice.grade is None for choice in self.choices}) != 1:
            raise ValueError(f"{self.name}: choices with a grade beside choices without one")

    @property
    def graded(self) -> bool:
        """Whether judgements are grades (numbers) and not labels."""
        return self.choices[0].grade is not None

    @property
    def halves(self) -> bool:
        """Whether the scale consists of all grades from 0 in half steps."""
        numbers = [choice.grade for choice in self.choices]
        return numbers == [place / 2 for place in range(len(numbers))]

    @property
    def column(self) -> str:
        """Name of the column that holds the judgement in tables."""
        return self.value or ("grade" if self.graded else "label")

    def choice(self, code: str) -> Choice | None:
        """Return the choice with a code; None for an unknown code."""
        return next((one for one in self.choices if one.code == code), None)

    def code_of(self, grade: float | None, label: str) -> str:
        """Return the code of a stored judgement; "" for a grade that no choice has."""
        if not self.graded:
            return label
        return next((one.code for one in self.choices if one.grade == grade), "")


# Pressed before a digit: a half more.
HALF_KEY = "h"

ANSWERS = Judging(
    name="answers",
    title="Answers",
    one="answer",
    many="answers",
    words="Grade each answer from 0 (wrong) to 5 (right) in half steps, by its meaning alone: "
    "wording and spelling do not count. Where a reference answer is known you see it; another "
    "right answer is as good. You are not told who wrote it, a person or a model, so that nothing "
    "but the text decides.",
    question="Your grade",
    choices=tuple(
        Choice(f"{grade:g}", words, grade, f"{HALF_KEY}{int(grade)}" if grade % 1 else "")
        for grade, words in (
            (0.0, "wrong, or no answer"),
            (0.5, "wrong, but for a trace"),
            (1.0, "mostly wrong"),
            (1.5, "wrong, with something right"),
            (2.0, "more wrong than right"),
            (2.5, "half right"),
            (3.0, "more right than wrong"),
            (3.5, "right, with something wrong"),
            (4.0, "mostly right"),
            (4.5, "right, but for a trifle"),
            (5.0, "right"),
        )
    ),
)
