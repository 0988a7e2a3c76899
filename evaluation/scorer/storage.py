"""Read the contents of an exported scorer from a finished run of the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count, F, Max, Min

from annotations.models import Consent
from annotations.models.question_sets import hash_consent_text
from evaluation.grading.facts.texts.names import WordCounts
from evaluation.grading.storage.running import NotAtOnceError, read_graded_input
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerScore, ExemplaryAnswer, Run, WorkerGrade
from evaluation.runs.steps.answers import read_grading_parameters
from evaluation.scorer.run import (
    NotExportableError,
    Origin,
    ScoredQuestion,
    ScorerContent,
    ScorerOptions,
    build_question_facts,
    refuse_answers_without_consent,
    refuse_unexportable_parameters,
    select_exportable_questions,
)
from evaluation.scorer.runtime.facts import QuestionFacts

AT_ONCE = 2000
MOST_ANSWERS = 20_000
"""Answers up to which an export is made while a browser waits."""


def refuse_large_run(run: Run) -> None:
    """Raise `NotExportableError` for a run too large to export within a browser's request."""
    answers = read_summary(run).counts.answers
    if answers > MOST_ANSWERS:
        raise NotExportableError("too_large", answers=answers, most=MOST_ANSWERS)


def load_run_content(run: Run, options: ScorerOptions) -> ScorerContent:
    """Return the contents of an exported scorer from a finished run.

    Raises `NotExportableError`.
    """
    refuse_unexportable_parameters(read_grading_parameters(run.parameters))
    refuse_answers_without_consent(options)
    facts, words, facts_reason = _load_facts(run)
    scores, lowest = _load_scores(run)
    questions = [
        ScoredQuestion(
            question=row["name"],
            text=row["text"] or "",
            passage=row["passage"] or "",
            category=row["category"],
            language=row["language"],
            n_answers=row["n_answers"],
            dispersion=row["dispersion"],
            vector=np.frombuffer(row["vector"], dtype="<f4"),
            worker_scores=sorted(scores.get(row["question_id"], [])),
            lowest=min(0.0, lowest.get(row["question_id"], 0.0)),
            facts=facts.get(row["question_id"]),
            consensus=(row["nearest"] or "") if options.with_answers else "",
        )
        for row in _select_exemplar_rows(run)
    ]
    kept, left_out = select_exportable_questions(questions, options)
    ranked = WorkerGrade.select_crowd(run).filter(support=True)
    raw = ranked.values_list("leave_one_out", flat=True)
    return ScorerContent(
        options,
        _load_origin(run),
        asdict(read_summary(run).embedding),
        kept,
        sorted(score for score in raw if score is not None),
        words,
        left_out,
        facts_reason,
    )


def _select_exemplar_rows(run: Run) -> Any:
    """Return rows of a run's exemplary answers that have a vector, in the order of questions."""
    rows: Any = ExemplaryAnswer.objects.filter(run=run, vector__isnull=False)
    return (
        rows.order_by("question__position", "question_id")
        .values(
            *("question_id", "n_answers", "dispersion", "vector"),
            name=F("question__external_id"),
            text=F("question__text"),
            passage=F("question__passage__text"),
            category=F("question__category"),
            language=F("question__language"),
            nearest=F("nearest_response__text"),
        )
        .iterator(AT_ONCE)
    )


def _load_scores(run: Run) -> tuple[dict[int, list[float]], dict[int, float]]:
    """Return the ranked workers' leave-one-out scores and the lowest score, each by question."""
    supported = set(
        WorkerGrade.select_crowd(run).filter(support=True).values_list("worker_id", flat=True)
    )
    excluded = set(WorkerGrade.select_excluded(run).values_list("worker_id", flat=True))
    rows: Any = AnswerScore.objects.filter(run=run).values_list(
        *("response__question_id", "response__submission__worker_id"),
        *("score", "score_leave_one_out"),
    )
    scores: dict[int, list[float]] = {}
    lowest: dict[int, float] = {}
    for question, worker, score, left_out in rows.iterator(AT_ONCE):
        if score is not None and worker not in excluded:
            lowest[question] = min(score, lowest.get(question, score))
        if left_out is not None and worker in supported:
            scores.setdefault(question, []).append(left_out)
    return scores, lowest


def _load_facts(run: Run) -> tuple[Mapping[int, QuestionFacts], WordCounts, str]:
    """Return (facts by question, word counts, reason code for no facts or "")."""
    found = read_summary(run).facts
    if found is None:
        return {}, WordCounts(), "not_asked_for"
    if found.read_by is not None:
        return {}, WordCounts(), "read_by_model"
    try:
        given = read_graded_input(run)
    except NotAtOnceError:
        return {}, WordCounts(), "changed"
    weights = WorkerGrade.objects.filter(run=run).values_list("worker_id", "weight")
    votes = {worker: weight or 0.0 for worker, weight in weights}
    has_votes = any(votes.values())
    facts, words = build_question_facts(
        given.wordings, given.answered, votes if has_votes else None, frozenset(given.excluded)
    )
    return facts, words, ""


def _load_origin(run: Run) -> Origin:
    """Return the origin of a run's answers, with the consent of their authors."""
    version, question_set = run.version, run.version.question_set
    # Of the answers that were graded only: others came later, or were not handed in.
    times = AnswerScore.objects.filter(run=run).aggregate(
        first=Min("response__submitted_at"),
        last=Max("response__submitted_at"),
        timed=Count("response__submitted_at"),
    )
    graded = WorkerGrade.objects.filter(run=run).values("worker_id")
    consents = Consent.objects.filter(submission__version=version, submission__worker__in=graded)
    n_consents = consents.count()
    is_same_text = consents.filter(text_hash=hash_consent_text(version.consent_text)).exists()
    counts = read_summary(run).counts
    languages = dict.fromkeys(filter(None, version.all_languages))
    return Origin(
        title=question_set.name,
        description=question_set.description,
        notice=question_set.notice,
        licence=question_set.licence,
        languages=tuple(languages),
        # Not its title or its warnings, which may name workers.
        run=str(run.public_id),
        signature=run.signature,
        input_hash=run.input_hash,
        collected=(_format_day(times["first"]), _format_day(times["last"])),
        n_timed=times["timed"],
        n_workers=counts.workers,
        n_answers=counts.answers,
        n_consents=n_consents or None,
        consent_text=version.consent_text if is_same_text else "",
        n_withdrawn=run.n_withdrawn or 0,
    )


def _format_day(time: datetime | None) -> str:
    """Return the day of a time; "" without one."""
    return "" if time is None else f"{time:%Y-%m-%d}"
