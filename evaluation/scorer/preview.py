"""What an exported scorer contains of people, shown before it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.core.messages.message import format_count
from evaluation.scorer.messages import LEFT_OUT, NO_FACTS
from evaluation.scorer.run import ScorerContent


@dataclass(frozen=True)
class LeftOut:
    """Number of questions that an export leaves out for one reason, with the reason's code."""

    reason: str
    questions: int


@dataclass(frozen=True)
class ScorerPreview:
    """Counts of what an export contains, and what it leaves out.

    Attributes
    ----------
    questions, left_out : numbers of exported questions, and of those left out by reason code.
    fact_questions : number of questions with facts; `facts_reason` is the code for none.
    worker_scores : raw scores of ranked workers. answer_scores : scores of their answers.
    answers : answers in workers' own words. words : words that two workers or more use.
    consents : workers who agreed to a consent text on the site; None if none is recorded.
    withdrawn : answers withdrawn since the run. licence : "" if none is stated.
    """

    name: str
    questions: int
    left_out: list[LeftOut]
    embedder: str
    revision: str
    fact_questions: int
    facts_reason: str
    worker_scores: int
    answer_scores: int
    answers: int
    words: int
    consents: int | None
    withdrawn: int
    licence: str

    def format_lines(self) -> Iterator[str]:
        """Yield the counts of the export as lines for a terminal."""
        yield f"Task {self.name}: {format_count(self.questions, 'question')}"
        for out in self.left_out:
            reason = LEFT_OUT[out.reason]
            yield f"Left out: {format_count(out.questions, 'question')} ({reason})"
        yield f"Embedder: {self.embedder}, revision {self.revision}"
        yield (
            f"Facts: {NO_FACTS[self.facts_reason]}"
            if self.facts_reason
            else f"Facts: on {format_count(self.fact_questions, 'question')}"
        )
        yield (
            f"Of workers: {format_count(self.worker_scores, 'raw score')}, "
            f"{format_count(self.answer_scores, 'answer score')}, "
            f"{format_count(self.words, 'shared word')}, "
            f"{format_count(self.answers, 'answer')} in their own words; no ids"
        )
        if self.withdrawn:
            yield f"Withdrawn since the run: {format_count(self.withdrawn, 'answer')}. Grade again."
        if not self.licence:
            yield "No licence is stated."


def build_preview(content: ScorerContent) -> ScorerPreview:
    """Return the counts of an export's contents, and of what it leaves out."""
    origin, questions, words = content.origin, content.questions, content.words
    return ScorerPreview(
        name=content.options.name,
        questions=len(questions),
        left_out=[LeftOut(reason, n) for reason, n in content.left_out.items()],
        embedder=content.embedder["spec"],
        revision=content.embedder["revision"],
        fact_questions=sum(question.facts is not None for question in questions),
        facts_reason=content.facts_reason,
        worker_scores=len(content.worker_scores),
        answer_scores=sum(len(question.worker_scores) for question in questions),
        answers=sum(bool(question.consensus) for question in questions),
        words=len({*words.inside, *words.first, *words.small}),
        consents=origin.n_consents,
        withdrawn=origin.n_withdrawn,
        licence=origin.licence,
    )
