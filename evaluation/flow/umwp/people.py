"""People as a benchmark: their answers to word problems, classified as replies of models are.

They stand in the tables as a system of their own, over all answers of all of them. Mostly they were
asked a sample, so models have rows of that sample too: only these are about the same problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from annotations.exchange.reading.word_problems import CATEGORIES, DIRECT, WordProblemReply
from annotations.exchange.records import AnswerRecord, AnswerStatus
from evaluation.flow.metrics import OVERALL, Exclusions, MetricRow, group_name
from evaluation.flow.umwp.classifying import ANSWERABLE
from evaluation.flow.umwp.judged import Judged, taken_of
from evaluation.flow.umwp.study import (
    NO_PARTNER,
    PAIRS,
    UmwpStudy,
    both_labels,
    same_words,
)
from evaluation.methods.inference.clustered import Estimate, means
from evaluation.methods.umwp.noticing import Taken

PEOPLE = "people"
SAMPLE = group_name("sample", PEOPLE)
UNANSWERED = "not_answered_by_worker"
REJECTED = "rejected_answer"


class PersonRow(NamedTuple):
    """A row of people.csv: an answer of a person, what it was taken for, and by what."""

    worker: str
    item: str
    answerable: bool | None
    category: int | None
    source: str
    taken_as: str
    decided_by: str
    similarity: float | None
    window: str | None
    template: str | None
    expression: str | None
    answer: float | None
    right: bool | None


def replies_of(
    answers: Iterable[AnswerRecord], exclusions: Exclusions
) -> Iterator[WordProblemReply]:
    """Yield people's answers as replies, each person the system of their own name.

    What a person left empty is no answer: it is counted, and classified as nothing.
    """
    for one in answers:
        named = {"worker": one.worker, "item": one.question, "line": one.line}
        if one.is_rejected:
            exclusions.add(REJECTED, named)
        elif not one.text:
            exclusions.add(UNANSWERED, named)
        else:
            yield WordProblemReply(
                one.line, one.worker, one.question, DIRECT, one.text, AnswerStatus.TEXT
            )


def people_rows(study: UmwpStudy) -> Iterator[PersonRow]:
    """Yield a row for each answer of a person."""
    for worker, many in study.people.items():
        for one in many:
            problem, found = one.problem, one.classified
            known = problem.answerable and problem.answers
            yield PersonRow(
                worker,
                problem.id,
                problem.answerable,
                problem.category,
                problem.source,
                found.taken_as,
                found.by,
                found.similarity,
                found.window,
                found.template,
                found.expression,
                found.answer,
                one.right if known else None,
            )


def people_metrics(study: UmwpStudy) -> Iterator[MetricRow]:
    """Yield people's rows, and those of each model over the problems that people answered.

    Whole problems are drawn for the intervals, with all answers to them. `worker:` groups are of
    one person each.
    """
    answers = [
        one for many in study.people.values() for one in many if one.problem.answerable is not None
    ]
    if not answers:
        return
    taken = _with_problems(answers)
    everything = np.ones(len(answers), dtype=np.bool_)
    groups = [(OVERALL, everything), (group_name("form", DIRECT), everything)]
    for number in CATEGORIES:
        chosen = np.array([one.problem.category == number for one in answers], dtype=np.bool_)
        groups.append((group_name("category", str(number)), chosen))
    for source in dict.fromkeys(one.problem.source for one in answers if one.problem.source):
        chosen = np.array([one.problem.source == source for one in answers])
        groups.append((group_name("source", source), chosen))
    for worker in study.people:
        chosen = np.array([one.reply.system == worker for one in answers])
        groups.append((group_name("worker", worker), chosen))
    for group, chosen in groups:
        if chosen.any():
            yield from study.of_group(PEOPLE, group, taken.of(chosen))
        if chosen is everything:
            yield _pairs(study, group)
    yield from _models_on_the_sample(study, {one.problem.id for one in answers})


def _models_on_the_sample(study: UmwpStudy, sample: set[str]) -> Iterator[MetricRow]:
    forms: dict[str, int] = {}
    for system, _ in study.judged:
        forms[system] = forms.get(system, 0) + 1
    for (system, form), replies in study.labelled.items():
        behind = "" if forms[system] == 1 else f",{group_name('form', form)}"
        chosen = [one for one in replies if one.problem.id in sample]
        if chosen:
            yield from study.of_group(system, SAMPLE + behind, taken_of(chosen))


def _with_problems(answers: list[Judged]) -> Taken:
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(one.problem.id, len(numbers)) for one in answers]
    return replace(taken_of(answers), problem=np.array(places, dtype=np.int64))


def _pairs(study: UmwpStudy, group: str) -> MetricRow:
    """Of a pair, both answered by one person: noticed the first, and answered the second rightly.

    A mean over pairs of each one's share of people.
    """
    both = both_labels(study.problems)
    good: dict[tuple[str, str], list[float]] = {}
    for many in study.people.values():
        by_id = {one.problem.id: one for one in many}
        for one in many:
            if one.problem.answerable is not False or same_words(one.problem.text) in both:
                continue
            for other in one.problem.relevant:
                partner = by_id.get(other)
                if partner is None or not partner.problem.answerable:
                    continue
                right = partner.classified.taken_as == ANSWERABLE and partner.right
                good.setdefault((one.problem.id, other), []).append(float(one.positive and right))
    if not good:
        return MetricRow.of(PEOPLE, group, PAIRS, Estimate(None, None, None, 0, NO_PARTNER))
    shares = [float(np.mean(found)) for found in good.values()]
    draws = (study.parameters.bootstrap, study.parameters.seed)
    return MetricRow.of(PEOPLE, group, PAIRS, means([shares], *draws)[0])
