"""Reports of facts: what the crowd agrees on, and how answers compare with it.

No grade, payment, admission or alarm reads facts. A run without facts shows none and needs no
query.

The module has three parts, in this order:

- share of a worker's or a model's facts that agree with the crowd, over all answers;
- values that workers agree on or contest, of a question and of a whole run;
- values that answers state, their verdicts, and their positions in the answers' texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple
from uuid import UUID

from django.db.models import Q

from annotations.web.paging import PAGE, Keyset, Page
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.grading.facts.texts.reading import NAME
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerFact, CrowdFact, ExemplaryAnswer, Run
from evaluation.runs.flow.stored import MEANING

__all__ = [
    "COUNTED",
    "CrowdValue",
    "FactAgreement",
    "FactOnQuestion",
    "MarkedFactsMixin",
    "MarkedPart",
    "NoFactsReason",
    "QuestionFacts",
    "RunFact",
    "RunFacts",
    "StatedFact",
    "build_fact_agreement",
    "build_run_facts",
    "read_answer_facts",
    "read_contradictions",
    "read_crowd_facts",
    "read_facts_of_answers",
    "read_question_facts",
]


# Columns of `WorkerGrade` and of `LLMScore`.
COUNTED = (
    *("facts", "fact_agreement", "fact_agreement_low", "fact_agreement_high"),
    *("fact_questions", "fact_contradicted"),
)


@dataclass(frozen=True)
class FactAgreement:
    """How far the facts of a worker or model agree with the crowd, in numbers.

    All values are None in a run without facts.

    Attributes
    ----------
    facts : number of facts that agree with the crowd or contradict it.
    agreement : the share that agrees, with Wilson's interval; undefined below 5 facts.
    questions : number of answered questions on which the crowd agrees on a fact. contradicted :
        number of these on which an answer contradicts that fact.
    """

    facts: int | None
    agreement: Estimate
    questions: int | None
    contradicted: int | None

    @property
    def said(self) -> Message | None:
        """Message on how many questions contradict the crowd; None in a run without facts."""
        if self.questions is None:
            return None
        values = {"questions": self.questions, "contradicted": self.contradicted}
        return Message("facts.standing", values)

    @property
    def summary(self) -> Message | None:
        """Short message, for lists, on contradicted questions; None without any."""
        if not self.contradicted:
            return None
        values = {"questions": self.questions, "contradicted": self.contradicted}
        return Message("facts.notice", values)


NO_FACTS = FactAgreement(None, Estimate(None), None, None)


def build_fact_agreement(row: dict[str, Any]) -> FactAgreement:
    """Return how far a worker's or model's facts agree with the crowd, from a database row.

    The row has the `COUNTED` columns.
    """
    return FactAgreement(
        facts=row["facts"],
        agreement=Estimate(
            row["fact_agreement"], row["fact_agreement_low"], row["fact_agreement_high"]
        ),
        questions=row["fact_questions"],
        contradicted=row["fact_contradicted"],
    )


SPOKEN = ExemplaryAnswer.SPOKEN
# Values on the page of a question; the files have all.
MAX_SHOWN = 50
ORDER = Keyset("crowd_fact", ("place",))


@dataclass(frozen=True)
class CrowdValue:
    """A value that workers state on a question: how many state it, and its state.

    Attributes
    ----------
    slot : the kind of fact, in words. mentions : number of workers who state the value, out of the
        `of` who state any value of that kind.
    """

    renamed_keys: ClassVar = {"of": "n_with_value"}

    slot: str
    value: str
    mentions: int
    of: int
    state: str


@dataclass(frozen=True)
class QuestionFacts(RecordWithReason):
    """Values that workers agree on and values they contest, for one question.

    Attributes
    ----------
    looked : whether the run extracted facts.
    agreed : agreed values, most supported first. contested : all values of the kinds of facts on
        which workers are divided, agreed ones included. Each at most 50.
    reason : code of why the question has no facts; "" if it has some, or facts are switched off.
    """

    looked: bool
    agreed: list[CrowdValue]
    contested: list[CrowdValue]
    reason: str


@dataclass(frozen=True)
class NoFactsReason(RecordWithReason):
    """Number of questions without facts for one reason."""

    count: int
    reason: str


@dataclass(frozen=True)
class RunFacts:
    """Numbers of a run's agreed and contested values, and of questions with and without facts.

    Attributes
    ----------
    questions : questions with an answer. spoken : those with facts.
    agreed, contested : values on which workers agree, and on which they are divided.
    silent : numbers of questions without facts, by reason.
    """

    questions: int
    spoken: int
    agreed: int
    contested: int
    silent: list[NoFactsReason]


@dataclass(frozen=True)
class RunFact:
    """A value that workers state on one question of a run, with its support and state."""

    renamed_keys: ClassVar = {"of": "n_with_value"}

    question: UUID
    question_name: str
    slot: str
    value: str
    mentions: int
    of: int
    state: str


def build_run_facts(run: Run) -> RunFacts | None:
    """Return the numbers of a run's facts; None for a run without facts. No query."""
    facts = read_summary(run).facts
    if facts is None:
        return None
    silent = sorted(facts.silent.items(), key=lambda item: (-item[1], item[0]))
    return RunFacts(
        questions=facts.questions,
        spoken=facts.spoken,
        agreed=facts.agreed,
        contested=facts.contested,
        silent=[NoFactsReason(count, reason) for reason, count in silent],
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
    return QuestionFacts(True, agreed[:MAX_SHOWN], contested[:MAX_SHOWN], "")


def split_by_state(values: Iterable[CrowdValue]) -> tuple[list[CrowdValue], list[CrowdValue]]:
    """Return the agreed values, and all values of the kinds of facts that are contested.

    An agreed value of a contested kind is in both lists. The second list begins with the least
    supported values, so that they are not overlooked.
    """
    agreed: list[CrowdValue] = []
    contested: list[CrowdValue] = []
    by_slot = attrgetter("slot")
    # groupby joins neighbours only; the sort is stable, so that the best backed value stays first.
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
                [*contested_here, *agreed_here], key=lambda value: (value.mentions, value.value)
            )
    return sorted(agreed, key=lambda value: -value.mentions), contested


def read_crowd_facts(
    run: Run, after: str = "", size: int = PAGE, question: UUID | None = None
) -> Page[RunFact]:
    """Return one page of the values that workers state in a run, or on one question."""
    rows = CrowdFact.objects.filter(run=run)
    if question is not None:
        rows = rows.filter(question__public_id=question)
    columns = ("place", "slot", "value", "mentions", "of", "state")
    question_columns = ("question__public_id", "question__external_id")
    return ORDER.load_page(
        rows.order_by().values(*columns, *question_columns), after, size, _build_run_fact
    )


def _build_run_fact(row: dict[str, Any]) -> RunFact:
    """Return the record of a value that workers state, from a database row."""
    return RunFact(
        question=row["question__public_id"],
        question_name=row["question__external_id"],
        slot=row["slot"],
        value=row["value"],
        mentions=row["mentions"],
        of=row["of"],
        state=row["state"],
    )


# Verdicts whose words are marked in a text; of the others there is nothing to compare with.
MARKED = (AnswerFact.Verdict.AGREES, AnswerFact.Verdict.CONTRADICTS, AnswerFact.Verdict.CONTESTED)
# Verdicts that are told below an answer: the others would repeat what stands above all of them.
FLAGGED_VERDICTS = (AnswerFact.Verdict.CONTRADICTS, AnswerFact.Verdict.CONTESTED)
# By the question first: an index on the rows of a run alone must not look like a way to a few.
STATED_ORDER = Keyset("answer_fact", ("question__position", "place"))
COLUMNS = (
    "question__position",
    *("place", "slot", "value", "verdict", "mentions", "of", "crowd", "n_crowd", "spans"),
    *("question__public_id", "question__external_id"),
)
By = Literal["worker", "model"]
SOURCE_FIELDS: dict[By, str] = {
    "worker": "response__submission__worker__public_id",
    "model": "llm_response__model__public_id",
}


@dataclass(frozen=True)
class StatedFact:
    """A value that an answer states or lacks, with its verdict and its position in the text.

    Attributes
    ----------
    verdict : agrees, contradicts, contested, missing, extra, open or too_few.
    mentions : number of other workers who state the same, out of the `of` who state any value of
        that kind.
    crowd : the value that the crowd agrees on, stated by `n_crowd` others; "" without one.
    spans : (start, end) positions in the answer's text; none for a missing value.
    said : the fact and its verdict as a message.
    """

    renamed_keys: ClassVar = {"said": "message", "of": "n_others"}

    slot: str
    value: str
    verdict: str
    mentions: int
    of: int
    crowd: str
    n_crowd: int
    spans: list[list[int]]
    said: Message


class MarkedPart(NamedTuple):
    """Part of an answer's text, with the fact it states or None."""

    text: str
    fact: StatedFact | None


@dataclass(frozen=True)
class FactOnQuestion:
    """A fact that an answer states or lacks, with the id and name of the question."""

    question: UUID
    question_name: str
    fact: StatedFact


Facts = dict[int, list[StatedFact]]


def read_facts_of_answers(
    run: Run, responses: Sequence[int] = (), replies: Sequence[int] = ()
) -> tuple[Facts, Facts]:
    """Return the facts of workers' answers and of models' answers, by the answer's primary key.

    By one query; by none in a run without facts.
    """
    by_response: Facts = {}
    by_reply: Facts = {}
    if read_summary(run).facts is None:
        return by_response, by_reply
    is_wanted = Q(response__in=responses) | Q(llm_response__in=replies)
    rows = AnswerFact.objects.filter(is_wanted, run=run).order_by("place")
    for row in rows.values("response_id", "llm_response_id", *COLUMNS):
        facts_by_key = by_reply if row["response_id"] is None else by_response
        facts_by_key.setdefault(row["response_id"] or row["llm_response_id"], []).append(
            _build_stated_fact(row)
        )
    return by_response, by_reply


def _build_stated_fact(row: dict[str, Any]) -> StatedFact:
    """Return a stated fact with its message, from a database row."""
    numbers = {name: row[name] for name in ("value", "crowd", "mentions", "of", "n_crowd")}
    message_group = "meaning" if row["slot"] == MEANING else "facts"
    return StatedFact(
        slot=row["slot"],
        verdict=row["verdict"],
        spans=row["spans"],
        said=Message(f"{message_group}.{row['verdict']}", numbers),
        **numbers,
    )


class MarkedFactsMixin:
    """Base of records of answers that are displayed with their facts highlighted."""

    text: str
    facts: list[StatedFact]

    @property
    def parts(self) -> list[MarkedPart]:
        """Parts of the text in order; a part that states a fact holds that fact."""
        return mark_facts(self.text, self.facts)


def mark_facts(text: str, facts: Iterable[StatedFact]) -> list[MarkedPart]:
    """Return the text split into parts, where a part that states a fact holds that fact.

    A fact that begins within another one, or beyond the end of a text that was cut, is not marked.
    """
    spans = [
        (start, end, fact) for fact in facts if fact.verdict in MARKED for start, end in fact.spans
    ]
    parts: list[MarkedPart] = []
    position = 0
    for start, end, fact in sorted(spans, key=lambda span: span[:2]):
        if start < position or end > len(text):
            continue
        if start > position:
            parts.append(MarkedPart(text[position:start], None))
        parts.append(MarkedPart(text[start:end], fact))
        position = end
    if position < len(text) or not parts:
        parts.append(MarkedPart(text[position:], None))
    return parts


def read_contradictions(run: Run, by: By, author: UUID) -> list[FactOnQuestion]:
    """Return up to 50 facts of a worker's or model's answers that contradict the crowd.

    By one query; by none in a run without facts.
    """
    if read_summary(run).facts is None:
        return []
    rows = AnswerFact.objects.filter(run=run, verdict=AnswerFact.Verdict.CONTRADICTS)
    ordered: Any = (
        rows.filter(**{SOURCE_FIELDS[by]: author})
        .order_by(*STATED_ORDER.build_order_by())
        .values(*COLUMNS)
    )
    return [_build_fact_on_question(row) for row in ordered[:MAX_SHOWN]]


def read_answer_facts(
    run: Run, by: By, author: UUID, after: str = "", size: int = PAGE
) -> Page[FactOnQuestion]:
    """Return one page of all facts in a worker's or model's answers."""
    rows = (
        AnswerFact.objects.filter(run=run, **{SOURCE_FIELDS[by]: author})
        .order_by()
        .values(*COLUMNS)
    )
    return STATED_ORDER.load_page(rows, after, size, _build_fact_on_question)


def _build_fact_on_question(row: dict[str, Any]) -> FactOnQuestion:
    """Return a stated fact with its question, from a database row."""
    return FactOnQuestion(
        row["question__public_id"], row["question__external_id"], _build_stated_fact(row)
    )
