"""What answers state, how that stands to what the others state, and where their texts have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple
from uuid import UUID

from django.db.models import Q

from annotations.web.paging import PAGE, Keyset, Page
from evaluation.flow.fact_slots import MEANING
from evaluation.grading.summary import summary_of
from evaluation.models import AnswerFact, Run
from evaluation.words.message import Message

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
    """A value that an answer states or lacks, and how that stands to the others.

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
    """A part of an answer; `fact` is what is said of it, None where nothing is."""

    text: str
    fact: SaidFact | None


@dataclass(frozen=True)
class FactOnQuestion:
    """A fact of an answer, with its question."""

    question: UUID
    question_name: str
    fact: SaidFact


Facts = dict[int, list[SaidFact]]


def facts_of(
    run: Run, responses: Sequence[int] = (), replies: Sequence[int] = ()
) -> tuple[Facts, Facts]:
    """Return what answers of workers and of models state, by their keys.

    By one query; by none in a run without facts.
    """
    by_response: Facts = {}
    by_reply: Facts = {}
    if summary_of(run).facts is None:
        return by_response, by_reply
    wanted = Q(response__in=responses) | Q(llm_response__in=replies)
    rows = AnswerFact.objects.filter(wanted, run=run).order_by("place")
    for row in rows.values("response_id", "llm_response_id", *COLUMNS):
        of = by_reply if row["response_id"] is None else by_response
        of.setdefault(row["response_id"] or row["llm_response_id"], []).append(_said(row))
    return by_response, by_reply


def _said(row: dict[str, Any]) -> SaidFact:
    numbers = {name: row[name] for name in ("value", "crowd", "mentions", "of", "n_crowd")}
    room = "meaning" if row["slot"] == MEANING else "facts"
    return SaidFact(
        slot=row["slot"],
        verdict=row["verdict"],
        spans=row["spans"],
        said=Message(f"{room}.{row['verdict']}", numbers),
        **numbers,
    )


class Marked:
    """An answer whose facts are marked in its text."""

    text: str
    facts: list[SaidFact]

    @property
    def parts(self) -> list[MarkedPart]:
        """The text, those parts that state a fact with what is said of it."""
        return marked(self.text, self.facts)


def marked(text: str, facts: Iterable[SaidFact]) -> list[MarkedPart]:
    """Return a text in parts, those that state a fact with what is said of it.

    A fact that begins within another one, or beyond the end of a text that was cut, is not marked.
    """
    spans = [
        (start, end, fact) for fact in facts if fact.verdict in MARKED for start, end in fact.spans
    ]
    parts: list[MarkedPart] = []
    at = 0
    for start, end, fact in sorted(spans, key=lambda span: span[:2]):
        if start < at or end > len(text):
            continue
        if start > at:
            parts.append(MarkedPart(text[at:start], None))
        parts.append(MarkedPart(text[start:end], fact))
        at = end
    if at < len(text) or not parts:
        parts.append(MarkedPart(text[at:], None))
    return parts


def contradictions_of(run: Run, by: By, who: UUID) -> list[FactOnQuestion]:
    """Return where a worker or a model contradicts the crowd, at most 50.

    By one query; by none in a run without facts.
    """
    if summary_of(run).facts is None:
        return []
    rows = AnswerFact.objects.filter(run=run, verdict=AnswerFact.Verdict.CONTRADICTS)
    found: Any = rows.filter(**{OF[by]: who}).order_by(*ORDER.columns()).values(*COLUMNS)
    return [_on_question(row) for row in found[:SHOWN]]


def said_facts(
    run: Run, by: By, who: UUID, after: str = "", size: int = PAGE
) -> Page[FactOnQuestion]:
    """Return all that a worker's or a model's answers state, page by page, by one query."""
    rows = AnswerFact.objects.filter(run=run, **{OF[by]: who}).order_by().values(*COLUMNS)
    return ORDER.take(rows, after, size, _on_question)


def _on_question(row: dict[str, Any]) -> FactOnQuestion:
    return FactOnQuestion(row["question__public_id"], row["question__external_id"], _said(row))
