"""What people agree on and contest, fact by fact: of a question, and of a whole run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar
from uuid import UUID

from annotations.web.paging import PAGE, Keyset, Page
from evaluation.flow.fact_slots import MEANING
from evaluation.grading.facts.texts.stated import NAME
from evaluation.grading.summary import summary_of
from evaluation.models import CrowdFact, ExemplaryAnswer, Run
from evaluation.words.reasons import Reasoned

SPOKEN = ExemplaryAnswer.SPOKEN
# Values on the page of a question; the files have all.
SHOWN = 50
ORDER = Keyset("crowd_fact", ("place",))


@dataclass(frozen=True)
class CrowdValue:
    """A value that people state, and how it stands: agreed, contested, open or too_few.

    Attributes
    ----------
    slot : what kind of thing it is a value of. mentions : how many of the `of` who say anything of
        the kind say it.
    """

    renamed_keys: ClassVar = {"of": "n_with_value"}

    slot: str
    value: str
    mentions: int
    of: int
    state: str


@dataclass(frozen=True)
class QuestionFacts(Reasoned):
    """What people state on a question.

    Attributes
    ----------
    looked : whether the run looked for facts.
    agreed : values, the best backed first. contested : values of slots on which people are
        divided, one that is agreed there among them. Each at most 50.
    reason : code of why nothing is said of the question; "" where something is, or nobody looked.
    """

    looked: bool
    agreed: list[CrowdValue]
    contested: list[CrowdValue]
    reason: str


@dataclass(frozen=True)
class SilentReason(Reasoned):
    """How many questions of a run nothing is said of for a reason."""

    count: int
    reason: str


@dataclass(frozen=True)
class RunFacts:
    """What a run found: it speaks on `spoken` of its `questions`, and says why not of the others.

    Attributes
    ----------
    agreed, contested : values that people agree on, and those on which they are divided.
    """

    questions: int
    spoken: int
    agreed: int
    contested: int
    silent: list[SilentReason]


@dataclass(frozen=True)
class FactOfRun:
    """A value that people state on a question of a run."""

    renamed_keys: ClassVar = {"of": "n_with_value"}

    question: UUID
    question_name: str
    slot: str
    value: str
    mentions: int
    of: int
    state: str


def run_facts(run: Run) -> RunFacts | None:
    """Return what a run found in all, without a query; None for a run without facts."""
    found = summary_of(run).facts
    if found is None:
        return None
    silent = sorted(found.silent.items(), key=lambda one: (-one[1], one[0]))
    return RunFacts(
        questions=found.questions,
        spoken=found.spoken,
        agreed=found.agreed,
        contested=found.contested,
        silent=[SilentReason(count, reason) for reason, count in silent],
    )


def question_facts(run: Run, exemplar: ExemplaryAnswer | None) -> QuestionFacts:
    """Return what people state on a question, by one query; by none where nobody looked."""
    if exemplar is None or not exemplar.facts:
        return QuestionFacts(False, [], [], "")
    if exemplar.facts != SPOKEN:
        return QuestionFacts(True, [], [], exemplar.facts)
    rows = CrowdFact.objects.filter(run=run, question=exemplar.question_id)
    rows = rows.exclude(slot=MEANING).order_by("place")
    agreed, contested = told(
        CrowdValue(row.slot, row.value, row.mentions, row.of, row.state) for row in rows
    )
    return QuestionFacts(True, agreed[:SHOWN], contested[:SHOWN], "")


def told(values: Iterable[CrowdValue]) -> tuple[list[CrowdValue], list[CrowdValue]]:
    """Return what people agree on, and the values of the slots on which they are divided.

    A value that is agreed in such a slot stands among them. Of a contested slot the least backed
    value comes first, so that nobody overlooks it.
    """
    agreed: list[CrowdValue] = []
    contested: list[CrowdValue] = []
    by_slot = attrgetter("slot")
    for slot, of_slot in groupby(sorted(values, key=by_slot), key=by_slot):
        found = list(of_slot)
        backed = [value for value in found if value.state == CrowdFact.State.AGREED]
        divided = [value for value in found if value.state == CrowdFact.State.CONTESTED]
        agreed += backed
        # Names stand beside each other: one that fewer give is not against one that is agreed.
        if divided and not (backed and slot == NAME):
            contested += sorted([*divided, *backed], key=lambda one: (one.mentions, one.value))
    return sorted(agreed, key=lambda value: -value.mentions), contested


def crowd_facts(
    run: Run, after: str = "", size: int = PAGE, question: UUID | None = None
) -> Page[FactOfRun]:
    """Return the values that people state in a run, or on a question of it, page by page."""
    rows = CrowdFact.objects.filter(run=run)
    if question is not None:
        rows = rows.filter(question__public_id=question)
    columns = ("place", "slot", "value", "mentions", "of", "state")
    asked = ("question__public_id", "question__external_id")
    return ORDER.take(rows.order_by().values(*columns, *asked), after, size, _of_run)


def _of_run(row: dict[str, Any]) -> FactOfRun:
    return FactOfRun(
        question=row["question__public_id"],
        question_name=row["question__external_id"],
        slot=row["slot"],
        value=row["value"],
        mentions=row["mentions"],
        of=row["of"],
        state=row["state"],
    )
