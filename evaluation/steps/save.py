"""Results to rows, in one transaction with the end of the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np
from django.db import models

from annotations.models import Question, Worker
from evaluation.backends import EmbedderInfo
from evaluation.flow.alarms import Alarms
from evaluation.flow.grade import Graded
from evaluation.flow.grade_changes import GradeChanges, standings_of
from evaluation.flow.maps import Maps, as_bytes, heat_map, question_means
from evaluation.flow.question_camps import CampedAnswers, camps_summary
from evaluation.flow.results import Results, Undefined
from evaluation.flow.signatures import aqer_signature, versions
from evaluation.flow.warnings import grading_warnings, remedy_warnings
from evaluation.methods import AQER, ModelScores
from evaluation.models import (
    AnswerScore,
    DrawPart,
    ExemplaryAnswer,
    LLMAnswerScore,
    LLMComparison,
    LLMScore,
    RunData,
    WorkerGrade,
)
from evaluation.steps.checkpoints import Ending, Turn
from evaluation.steps.load import RunInput
from evaluation.steps.save_alarms import save_alarms

BATCH = 2000
# Exemplary vectors wider than this are not kept: a bag of words fills the table with zeros.
WIDEST_KEPT = 4096
# The name of the overview among a run's pictures.
HEAT_MAP = "heat-map"
RESULTS: tuple[type[models.Model], ...] = (
    WorkerGrade,
    ExemplaryAnswer,
    AnswerScore,
    LLMScore,
    LLMAnswerScore,
    LLMComparison,
    RunData,
)


def save(
    turn: Turn,
    source: RunInput,
    graded: Graded,
    alarms: Alarms,
    maps: Maps,
    info: EmbedderInfo,
    about: list[str],
) -> None:
    """Write all results and end the run; nothing is written if the claim is lost.

    `about` are warnings of earlier steps. A run that was computed before (its worker died just
    then) has its results replaced, never doubled.
    """
    results = Results(graded.aqer, graded.models, Undefined())
    input_hash = source.hash()
    with turn.fenced():
        DrawPart.objects.filter(run=source.run).delete()
        for result in RESULTS:
            result._default_manager.filter(run=source.run).delete()
        _create(WorkerGrade, _worker_grades(source, results, maps))
        _create(ExemplaryAnswer, _exemplary_answers(source, results, maps, alarms.camps))
        _create(AnswerScore, _answer_scores(source, results, maps))
        _create(LLMScore, _llm_scores(source, results))
        _create(LLMAnswerScore, _llm_answer_scores(source, results, maps))
        _create(LLMComparison, _llm_comparisons(source, graded.models))
        save_alarms(source, alarms)
        RunData.objects.create(run=source.run, name=HEAT_MAP, data=heat_map(source, graded.aqer))
        undefined = results.undefined.as_list()
        turn.end(
            Ending(
                signature=aqer_signature(
                    source.parameters, info.model, info.revision, info.precision, input_hash
                ),
                input_hash=input_hash,
                warnings=about
                + grading_warnings(
                    graded.aqer,
                    graded.models,
                    source.n_empty,
                    texts=source.texts,
                    embedder=source.parameters.embedder,
                    n_rejected=source.n_rejected,
                )
                + (remedy_warnings(graded.remedies) if graded.remedies else []),
                reasons=[{k: v for k, v in entry.items() if k != "rows"} for entry in undefined],
                summary=_summary(source, graded, info)
                | _remedies(source, graded)
                | {
                    "map": maps.about,
                    "alarm_checks": alarms.checks_as_dicts(),
                    "question_camps": camps_summary(alarms.camps, source.asked),
                },
            )
        )


def _summary(source: RunInput, graded: Graded, info: EmbedderInfo) -> dict[str, Any]:
    aqer = graded.aqer
    return {
        "iterations": aqer.n_iter_,
        "converged": aqer.converged_,
        "trace": aqer.trace_,
        "ceiling": asdict(aqer.ceiling_),
        "draw_agreement": median_agreement(aqer),
        "counts": {
            "answers": len(source.responses),
            "empty_answers": source.n_empty,
            "workers": len(aqer.workers_),
            "questions": len(aqer.questions_),
            "models": len(set(source.models)),
            "model_answers": len(source.llm_responses),
        },
        "embedding": {k: v for k, v in info.as_dict().items() if k != "versions"},
        "versions": versions(info.versions),
    }


def _remedies(source: RunInput, graded: Graded) -> dict[str, Any]:
    """Return what the remedies did and changed; workers and questions by their public ids."""
    report = graded.remedies
    if report is None or graded.plain is None:
        return {}
    public = dict(Worker.objects.filter(pk__in=source.everybody).values_list("pk", "public_id"))
    asked = dict(Question.objects.filter(pk__in=source.asked).values_list("pk", "public_id"))
    found = report.as_dict(lambda key: str(public[key]), lambda key: str(asked[key]))
    if report.suggested is not None:
        found["suggested_anchors"]["responses"] = [
            source.responses[row] for row in report.suggested.tolist()
        ]
    changes = GradeChanges.between(
        source.everybody, standings_of(graded.plain), standings_of(graded.aqer)
    ).summary()
    for row in changes["movers"]:
        row["worker"] = str(public[row["worker"]])
    return {"remedies": {**found, "compared_with_plain": changes}}


def median_agreement(aqer: AQER) -> float | None:
    """Return the median correlation of the draws' rankings with the run's; None without one."""
    known = aqer.draw_agreement_[~np.isnan(aqer.draw_agreement_)]
    return float(np.median(known)) if len(known) else None


def _create(model: type[models.Model], rows: Iterable[models.Model]) -> None:
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        model._default_manager.bulk_create(batch)


def _worker_grades(source: RunInput, results: Results, maps: Maps) -> Iterable[WorkerGrade]:
    aqer = results.aqer
    place = {worker: at for at, worker in enumerate(aqer.workers_.tolist())}
    means = left_out_means(aqer.leave_one_out_scores_, source.workers)
    ranks = rank_bounds(aqer)
    for row in results.workers(source.everybody):
        values = row._asdict()
        at = place.get(row.worker)
        rank_low, rank_high = ranks.get(row.worker, (None, None))
        yield WorkerGrade(
            run=source.run,
            worker_id=values.pop("worker"),
            support=values.pop("support") == "ok",
            leave_one_out=means.get(row.worker),
            rank_low=rank_low,
            rank_high=rank_high,
            weights=None if at is None else maps.weights[:, at].astype("<f4").tobytes(),
            grades=None if at is None else maps.grades[:, at].astype("<f4").tobytes(),
            **values,
        )


def rank_bounds(aqer: AQER) -> dict[Any, tuple[int, int]]:
    """Return the interval of each worker's rank, for those that have one."""
    known = np.flatnonzero(~np.isnan(aqer.rank_low_))
    bounds = np.column_stack([aqer.rank_low_, aqer.rank_high_])[known].astype(int).tolist()
    return {
        worker: (low, high)
        for worker, (low, high) in zip(aqer.workers_[known].tolist(), bounds, strict=True)
    }


def left_out_means(scores: np.ndarray[Any, Any], workers: list[int]) -> dict[int, float]:
    """Return the mean leave-one-out score of each worker that has one."""
    known = ~np.isnan(scores)
    of_worker = np.array(workers)[known]
    ids, codes = np.unique(of_worker, return_inverse=True)
    means = np.bincount(codes, weights=scores[known]) / np.bincount(codes)
    return dict(zip(ids.tolist(), means.tolist(), strict=True))


def _exemplary_answers(
    source: RunInput, results: Results, maps: Maps, camps: dict[Any, CampedAnswers]
) -> Iterable[ExemplaryAnswer]:
    aqer = results.aqer
    means = question_means(source, aqer)
    exemplars = aqer.exemplars()
    kept = exemplars.shape[1] <= WIDEST_KEPT and isinstance(exemplars, np.ndarray)
    place = {question: at for at, question in enumerate(aqer.questions_.tolist())}
    for row in results.exemplars(source.asked):
        vector = path = mean = own = of_run = None
        if row.question in place:
            at = place[row.question]
            path = as_bytes(maps.paths[at])
            mean, own, of_run = (
                _known(column[at]) for column in (means, maps.own_share, maps.run_share)
            )
            if kept:
                vector = as_bytes(exemplars[at])
        found = camps.get(row.question)
        larger, smaller = (found and found.sizes) or (None, None)
        nearest = [source.responses[at] for at in (found and found.nearest) or ()]
        yield ExemplaryAnswer(
            run=source.run,
            question_id=row.question,
            n_answers=row.n_answers,
            nearest_response_id=None if row.nearest is None else source.responses[row.nearest],
            dispersion=row.dispersion,
            dimension=None if vector is None else exemplars.shape[1],
            vector=vector,
            mean_score=mean,
            path=path,
            own_share=own,
            run_share=of_run,
            separation=None if found is None else found.separation,
            larger_camp=larger,
            smaller_camp=smaller,
            larger_nearest_id=nearest[0] if nearest else None,
            smaller_nearest_id=nearest[1] if nearest else None,
        )


def _answer_scores(source: RunInput, results: Results, maps: Maps) -> Iterable[AnswerScore]:
    answers = ((w, q, True) for w, q in zip(source.workers, source.questions, strict=True))
    rows = results.answers(answers)
    for response, row, place in zip(source.responses, rows, maps.places, strict=True):
        yield AnswerScore(
            run=source.run,
            response_id=response,
            score=row.score,
            score_leave_one_out=row.score_leave_one_out,
            place=as_bytes(place),
        )


def _llm_scores(source: RunInput, results: Results) -> Iterable[LLMScore]:
    reasons = (
        {}
        if results.models is None
        else dict(zip(results.models.models.tolist(), results.models.reasons, strict=True))
    )
    for row in results.model_scores():
        values = row._asdict()
        yield LLMScore(
            run=source.run,
            model_id=values.pop("model"),
            reason=reasons.get(row.model) or "",
            **values,
        )


def _llm_answer_scores(source: RunInput, results: Results, maps: Maps) -> Iterable[LLMAnswerScore]:
    records = list(zip(source.models, source.model_questions, source.statuses, strict=True))
    rows = results.model_answers(records)
    if results.models is None:
        return
    for response, row, place in zip(source.llm_responses, rows, maps.of_models, strict=True):
        yield LLMAnswerScore(
            run=source.run,
            llm_response_id=response,
            score=row.score,
            reason=row.reason or "",
            place=as_bytes(place),
        )


def _llm_comparisons(source: RunInput, models: ModelScores | None) -> Iterable[LLMComparison]:
    for pair in models.comparisons if models else ():
        yield LLMComparison(
            run=source.run,
            model_a_id=int(pair.model_a),
            model_b_id=int(pair.model_b),
            difference=pair.difference,
            low=pair.low,
            high=pair.high,
            p_value=pair.p_value,
            adjusted_p_value=pair.adjusted_p_value,
            smallest_detectable=pair.smallest_detectable,
            n=pair.n,
            test=pair.test,
            reason=pair.reason or "",
        )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
