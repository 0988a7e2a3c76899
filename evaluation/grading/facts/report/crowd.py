"""Report the values that workers agree on or contest, of a question and of a whole run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar
from uuid import UUID

from annotations.web.paging import PAGE, Keyset, Page
from evaluation.core.messages.reasons import Reasoned
from evaluation.grading.facts.texts.stated import NAME
from evaluation.grading.summary import read_summary
from evaluation.models import CrowdFact, ExemplaryAnswer, Run
from evaluation.runs.flow.fact_slots import MEANING

SPOKEN = ExemplaryAnswer.SPOKEN
# Values on the page of a question; the files have all.
SHOWN = 50
ORDER = Keyset("crowd_fact", ("place",))


@dataclass(frozen=True)
class CrowdValue:
    """A value that workers state on a question, with their number and its state.

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
    """Values that the workers agree on, and values they contest, on one question.

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
    """Number of a run's questions without facts for one reason, with the reason's code."""

    count: int
    reason: str


@dataclass(frozen=True)
class RunFacts:
    """Counts of a run's facts: agreed and contested values, questions with and without facts.

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
    """A value that workers state on one question of a run, with its state and support."""

    renamed_keys: ClassVar = {"of": "n_with_value"}

    question: UUID
    question_name: str
    slot: str
    value: str
    mentions: int
    of: int
    state: str


def build_run_facts(run: Run) -> RunFacts | None:
    """Return the counts of a run's facts, without a query; None for a run without facts."""
    facts = read_summary(run).facts
    if facts is None:
        return None
    silent = sorted(facts.silent.items(), key=lambda one: (-one[1], one[0]))
    return RunFacts(
        questions=facts.questions,
        spoken=facts.spoken,
        agreed=facts.agreed,
        contested=facts.contested,
        silent=[SilentReason(count, reason) for reason, count in silent],
    )


def read_question_facts(run: Run, exemplar: ExemplaryAnswer | None) -> QuestionFacts:
    """Return the agreed and contested values on a question; at most one query."""
    if exemplar is None or not exemplar.facts:
        return QuestionFacts(False, [], [], "")
    if exemplar.facts != SPOKEN:
        return QuestionFacts(True, [], [], exemplar.facts)
    rows = CrowdFact.objects.filter(run=run, question=exemplar.question_id)
    rows = rows.exclude(slot=MEANING).order_by("place")
    agreed, contested = split_by_state(
        CrowdValue(row.slot, row.value, row.mentions, row.of, row.state) for row in rows
    )
    return QuestionFacts(True, agreed[:SHOWN], contested[:SHOWN], "")


def split_by_state(values: Iterable[CrowdValue]) -> tuple[list[CrowdValue], list[CrowdValue]]:
    """Return the agreed values, and all values of the kinds of facts that are contested.

    An agreed value of a divided slot is in both lists. The least backed values come first in the
    second list, so that they are not overlooked.
    """
    agreed: list[CrowdValue] = []
    contested: list[CrowdValue] = []
    by_slot = attrgetter("slot")
    for slot, values_of_slot in groupby(sorted(values, key=by_slot), key=by_slot):
        slot_values = list(values_of_slot)
        agreed_here = [value for value in slot_values if value.state == CrowdFact.State.AGREED]
        contested_here = [
            value for value in slot_values if value.state == CrowdFact.State.CONTESTED
        ]
        agreed += agreed_here
        # Names stand beside each other: one that fewer give is not against one that is agreed.
        if contested_here and not (agreed_here and slot == NAME):
            contested += sorted(
                [*contested_here, *agreed_here], key=lambda one: (one.mentions, one.value)
            )
    return sorted(agreed, key=lambda value: -value.mentions), contested


def read_crowd_facts(
    run: Run, after: str = "", size: int = PAGE, question: UUID | None = None
) -> Page[FactOfRun]:
    """Return a page (of a paginated list) of the values workers state in a run or on a question."""
    rows = CrowdFact.objects.filter(run=run)
    if question is not None:
        rows = rows.filter(question__public_id=question)
    columns = ("place", "slot", "value", "mentions", "of", "state")
    question_columns = ("question__public_id", "question__external_id")
    return ORDER.take(rows.order_by().values(*columns, *question_columns), after, size, _build_fact)


def _build_fact(row: dict[str, Any]) -> FactOfRun:
    """Convert a database row to the record of a stated value."""
    return FactOfRun(
        question=row["question__public_id"],
        question_name=row["question__external_id"],
        slot=row["slot"],
        value=row["value"],
        mentions=row["mentions"],
        of=row["of"],
        state=row["state"],
    )
