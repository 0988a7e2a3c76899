"""What experts judge in a type of run, their judgements, and samples of items.

Declare what experts judge in a type of run, and on which scale. Load the experts' judgements of a
run's items. Draw a random sample of a run's items for experts to judge, and ask experts about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Count, Q

from evaluation import models
from evaluation.core.stats.statistics.descriptive import draw_stratified_order
from evaluation.models import HumanJudgement, JudgementRequest, Run
from evaluation.models.judgements import PLACES

Key = tuple[str, ...]
"""Key of an item within a run, such as system, item and language."""


@dataclass(frozen=True)
class Choice:
    """One of the judgements that an expert can choose, a grade or a label.

    Attributes
    ----------
    code : code that is stored, sent and exported; a code of one character is its key as well.
    words : meaning of the choice. grade : grade, 0 to 5; None for a label.
    key : key on the keyboard, or two keys pressed one after the other; "" for `code`.
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
    text : text to read; "" shows `missing` instead.
    quoted : whether this is the text to judge. folded : whether the page shows it on demand only.
    """

    title: str
    text: str
    missing: str = ""
    quoted: bool = False
    folded: bool = False


@dataclass(frozen=True)
class Exhibit:
    """An item for experts to judge: its key, and the texts that an expert may see.

    `parts` must not reveal the author or other judgements. `stratum` is never shown:
    a sample holds the strata in their shares; with one stratum it is a simple random sample.
    """

    key: Key
    parts: tuple[Part, ...]
    stratum: str = ""

    def as_json(self) -> list[dict[str, Any]]:
        """Return the texts shown to an expert as plain values, ready for JSON."""
        return [dict(part.__dict__) for part in self.parts]


def load_parts(stored: Sequence[Mapping[str, Any]]) -> tuple[Part, ...]:
    """Return the texts for an expert from the JSON values of `Exhibit.as_json`."""
    return tuple(Part(**part) for part in stored)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Declaration of which items of a run type experts judge blindly, and on which scale.

    Attributes
    ----------
    name : name in URLs and in stored rows, unique within the run type.
    title : label. one, many : noun for the judged items, such as "answer" and "answers".
    words : instruction for the experts.
    question : question above the choices. choices : all with a grade, or all without.
    columns : names of the parts of an item's key, in tables. cluster : index of the part by which
        intervals are clustered, because judgements of one question are not independent.
    value : name of the judgement's column in tables; "" for "grade" or "label".
    exhibits : returns all items of a finished run that can be judged, always in the same order;
        the generator draws random orders within an item.
    machines : returns automatic judgements of the items, by judge and by key: grades of the same
        scale, or codes.
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
            raise ValueError(f"{self.name}: choices with a grade and choices without one")

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

    def find_choice(self, code: str) -> Choice | None:
        """Return the choice of the scale with a code; None for an unknown code."""
        return next((choice for choice in self.choices if choice.code == code), None)

    def find_code(self, grade: float | None, label: str) -> str:
        """Return the code of the choice that was stored; "" for a grade that no choice has."""
        if not self.graded:
            return label
        return next((choice.code for choice in self.choices if choice.grade == grade), "")


# Pressed before a digit: a half more.
HALF_KEY = "h"

ANSWERS = Judging(
    name="answers",
    title="Answers",
    one="answer",
    many="answers",
    words="Grade each answer from 0 (wrong) to 5 (right) in half steps, by its meaning alone: "
    "wording and spelling do not count. Where a reference answer is known you see it; another "
    "right answer is as good. The author, a person or a model, is not shown, so that only the "
    "text decides.",
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


# As files name people who judge.
HUMAN = "human"


@dataclass(frozen=True)
class ExpertJudgement:
    """An expert's judgement of one item; `value` is a grade, or the code of a label."""

    key: Key
    expert: str
    value: float | str
    updated_at: datetime

    @property
    def judge(self) -> str:
        """Name of the expert among human and automatic judges, such as "human:rana"."""
        return f"{HUMAN}:{self.expert}"


def load_judgements(run: Run, judging: Judging) -> list[ExpertJudgement]:
    """Return the experts' judgements of a run, ordered by item and expert name."""
    rows = (
        HumanJudgement.objects.filter(exhibit__run=run, exhibit__judging=judging.name)
        .order_by("exhibit__place", "expert__username")
        .values_list("exhibit__key", "expert__username", "grade", "label", "updated_at")
    )
    return [
        ExpertJudgement(tuple(key), expert, label if grade is None else grade, index)
        for key, expert, grade, label, index in rows
    ]


# What one run may show, and the largest seed that the database keeps.
MOST_DRAWN, MOST_SEED = 5_000, 2**31 - 1


@dataclass(frozen=True)
class ExpertProgress:
    """Number of judgements that an expert was asked for in a sample, and of finished ones."""

    user: int
    name: str
    n_asked: int
    n_done: int

    @property
    def is_done(self) -> bool:
        """Whether the expert was asked and no judgement is missing."""
        return 0 < self.n_asked <= self.n_done


@transaction.atomic
def draw_sample(run: Run, judging: Judging, count: int, seed: int) -> list[models.Exhibit]:
    """Return the stored sample of a run's items to judge, extended by random ones to `count`.

    If the items have several strata, the sample holds each in proportion (`draw_stratified_order`).
    The order of all items is drawn once with a seed, and the sample is its beginning: a larger
    sample holds the smaller one, and `seed` counts in the first draw only. If a run has fewer than
    `count` items, the sample holds all.
    """
    # The run's row makes two who draw at once wait for each other.
    Run.objects.select_for_update().get(pk=run.pk)
    drawn = list(models.Exhibit.objects.filter(run=run, judging=judging.name).order_by("place"))
    if len(drawn) >= count:
        return drawn[:count]
    # The first seed stays: another one would change the order, of which the sample is the
    # beginning.
    seed = drawn[0].seed if drawn else seed
    rng = np.random.default_rng(seed)
    exhibits = judging.exhibits(run, rng)
    strata = [exhibit.stratum for exhibit in exhibits]
    if len(set(strata)) > 1:
        order = draw_stratified_order(strata, rng).tolist()
    else:
        order = rng.permutation(len(exhibits)).tolist()
    new_rows = [
        models.Exhibit(
            run=run,
            judging=judging.name,
            place=place,
            seed=seed,
            key=list(exhibits[order[place]].key),
            shown=exhibits[order[place]].as_json(),
        )
        for place in range(len(drawn), min(count, len(order)))
    ]
    models.Exhibit.objects.bulk_create(new_rows)
    return drawn + new_rows


def request_judgements(exhibits: Iterable[models.Exhibit], expert: int) -> None:
    """Ask an expert to judge the items of a run's sample; earlier requests stay.

    Each expert gets the items in another random order, drawn with the seed of the sample.
    """
    rows = list(exhibits)
    if not rows:
        return
    # Seeded by the sample and the expert: an order of their own, and the same one if asked again.
    rng = np.random.default_rng([rows[0].seed, expert])
    places = rng.integers(0, PLACES, max(row.place for row in rows) + 1)
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(
                run_id=row.run_id, exhibit=row, expert_id=expert, place=int(places[row.place])
            )
            for row in rows
        ],
        ignore_conflicts=True,
    )


def list_expert_progress(run: Run, judging: Judging) -> list[ExpertProgress]:
    """Return the progress of each expert who was asked to judge a run's items; two queries."""
    mine = {"exhibit__run": run, "exhibit__judging": judging.name}
    done = dict(
        models.HumanJudgement.objects.filter(**mine)
        .order_by()
        .values_list("expert")
        .annotate(n=Count("pk"))
    )
    rows = (
        JudgementRequest.objects.filter(Q(**mine))
        .order_by("expert__username")
        .values_list("expert", "expert__username")
        .annotate(n=Count("pk"))
    )
    return [ExpertProgress(user, name, n, done.get(user, 0)) for user, name, n in rows]
