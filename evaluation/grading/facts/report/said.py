"""Values that answers state, their verdicts, and their positions in the answers' texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple
from uuid import UUID

from django.db.models import Q

from annotations.web.paging import PAGE, Keyset, Page
from evaluation.core.messages.message import Message
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerFact, Run
from evaluation.runs.flow.fact_slots import MEANING

# Contradictions that are told of one worker or model; the files have all.
SHOWN = 50
# Verdicts whose words are marked in a text; of the others there is nothing to compare with.
MARKED = (AnswerFact.Verdict.AGREES, AnswerFact.Verdict.CONTRADICTS, AnswerFact.Verdict.CONTESTED)
# Verdicts that are told below an answer: the others would repeat what stands above all of them.
TOLD = (AnswerFact.Verdict.CONTRADICTS, AnswerFact.Verdict.CONTESTED)
# By the question first: an index on the rows of a run alone must not look like a way to a few.
ORDER = Keyset("answer_fact", ("question__position", "place"))
COLUMNS = (
    "question__position",
    *("place", "slot", "value", "verdict", "mentions", "of", "crowd", "n_crowd", "spans"),
    *("question__public_id", "question__external_id"),
)
By = Literal["worker", "model"]
OF: dict[By, str] = {
    "worker": "response__submission__worker__public_id",
    "model": "llm_response__model__public_id",
}


@dataclass(frozen=True)
class SaidFact:
    """A value that an answer states or lacks, with its verdict and position in the text.

    Attributes
    ----------
    verdict : agrees, contradicts, contested, missing, extra, open or too_few.
    mentions : of the `of` others who say anything of the kind, those who say the same.
    crowd : the value that the crowd agrees on, where there is one; `n_crowd` others say that.
    spans : (start, end) of the characters of the answer; none of a missing one.
    said : all of it in a sentence.
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
    fact: SaidFact | None


@dataclass(frozen=True)
class FactOnQuestion:
    """A fact that an answer states or lacks, with the id and name of the question."""

    question: UUID
    question_name: str
    fact: SaidFact


Facts = dict[int, list[SaidFact]]


def read_facts(
    run: Run, responses: Sequence[int] = (), replies: Sequence[int] = ()
) -> tuple[Facts, Facts]:
    """Return the facts of workers' and of models' answers, by the answers' primary keys.

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
            _build_fact(row)
        )
    return by_response, by_reply


def _build_fact(row: dict[str, Any]) -> SaidFact:
    """Convert a database row to a stated fact with its message."""
    numbers = {name: row[name] for name in ("value", "crowd", "mentions", "of", "n_crowd")}
    message_group = "meaning" if row["slot"] == MEANING else "facts"
    return SaidFact(
        slot=row["slot"],
        verdict=row["verdict"],
        spans=row["spans"],
        said=Message(f"{message_group}.{row['verdict']}", numbers),
        **numbers,
    )


class Marked:
    """Mixin for an answer shown with its facts highlighted in the text."""

    text: str
    facts: list[SaidFact]

    @property
    def parts(self) -> list[MarkedPart]:
        """The text split into parts; a part that states a fact holds that fact."""
        return mark_facts(self.text, self.facts)


def mark_facts(text: str, facts: Iterable[SaidFact]) -> list[MarkedPart]:
    """Split a text into parts; a part that states a fact holds that fact.

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
    """Return at most 50 facts in which a worker or a model contradicts the crowd.

    By one query; by none in a run without facts.
    """
    if read_summary(run).facts is None:
        return []
    rows = AnswerFact.objects.filter(run=run, verdict=AnswerFact.Verdict.CONTRADICTS)
    ordered: Any = rows.filter(**{OF[by]: author}).order_by(*ORDER.columns()).values(*COLUMNS)
    return [_build_fact_on_question(row) for row in ordered[:SHOWN]]


def read_answer_facts(
    run: Run, by: By, author: UUID, after: str = "", size: int = PAGE
) -> Page[FactOnQuestion]:
    """Return a page (of a paginated list) of all facts in a worker's or model's answers."""
    rows = AnswerFact.objects.filter(run=run, **{OF[by]: author}).order_by().values(*COLUMNS)
    return ORDER.take(rows, after, size, _build_fact_on_question)


def _build_fact_on_question(row: dict[str, Any]) -> FactOnQuestion:
    """Convert a database row to a stated fact with its question."""
    return FactOnQuestion(
        row["question__public_id"], row["question__external_id"], _build_fact(row)
    )
