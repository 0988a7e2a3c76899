"""Save the results of a grading, with its facts, as database rows.

Convert facts to database rows of a run; `evaluation.grading.facts.run` computes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from django.db import models

from annotations.models import Question, Worker
from evaluation.consensus import AQER
from evaluation.consensus.inputs import ModelAnswers
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.grading.alarms.methods.questions import build_camps_summary
from evaluation.grading.alarms.run.detection import SideBySideAnswers
from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import CrowdFacts
from evaluation.grading.facts.run.reading import MODEL, WORKER, count_facts
from evaluation.grading.run.grading import Grading
from evaluation.grading.run.maps import (
    Maps,
    build_heat_map,
    compute_question_means,
    convert_to_bytes,
)
from evaluation.grading.run.results import Results, compute_leave_one_out_means
from evaluation.grading.summary import VERSION, AqerSummary, Counts, FactTotals
from evaluation.models import (
    Alarm,
    AnswerFact,
    AnswerScore,
    CrowdFact,
    DrawPart,
    ExemplaryAnswer,
    LLMAnswerScore,
    LLMComparison,
    LLMScore,
    RunData,
    WorkerGrade,
)
from evaluation.runs.steps.checkpoints import RunEnd, Turn

# Verdicts on answers to questions on which the crowd agrees on something.
OF_AGREED = frozenset(
    {Verdict.AGREES, Verdict.CONTRADICTS, Verdict.CONTESTED, Verdict.MISSING, Verdict.EXTRA}
)


class FactRows:
    """Database rows of a grading's facts; none if facts are switched off."""

    def __init__(self, run: int, facts: CrowdFacts | None) -> None:
        self.run, self.facts = run, facts
        self._agreed: Counter[tuple[str, Any]] = Counter()
        self._contradicted: Counter[tuple[str, Any]] = Counter()
        if facts is not None:
            verdicts = [
                ((answer.kind, answer.name), answer.question, answer.verdict)
                for answer in facts.answers
            ]
            on_agreed = {
                (author, question) for author, question, verdict in verdicts if verdict in OF_AGREED
            }
            # A set of questions: one counts once, however many of its facts are contradicted.
            contradicting = {
                (author, on_agreed)
                for author, on_agreed, verdict in verdicts
                if verdict == Verdict.CONTRADICTS
            }
            self._agreed.update(author for author, _ in on_agreed)
            self._contradicted.update(author for author, _ in contradicting)

    def iterate_crowd_facts(self) -> Iterator[CrowdFact]:
        """Yield a database row for every value that workers state."""
        for place, fact in enumerate(self.facts.crowd if self.facts else ()):
            yield CrowdFact(
                run_id=self.run,
                place=place,
                question_id=fact.question,
                slot=fact.slot,
                value=fact.value,
                mentions=fact.mentions,
                of=fact.of,
                state=fact.state.value,
            )

    def iterate_answer_facts(self) -> Iterator[AnswerFact]:
        """Yield a database row for every value that an answer states or lacks."""
        for place, fact in enumerate(self.facts.answers if self.facts else ()):
            of_worker = fact.kind == WORKER
            yield AnswerFact(
                run_id=self.run,
                place=place,
                question_id=fact.question,
                response_id=fact.key if of_worker else None,
                llm_response_id=None if of_worker else fact.key,
                slot=fact.slot,
                value=fact.value,
                verdict=fact.verdict.value,
                mentions=fact.mentions,
                of=fact.of,
                crowd=fact.crowd,
                n_crowd=fact.n_crowd,
                spans=[list(span) for span in fact.spans],
            )

    def build_counts(self, kind: str, name: Any) -> Mapping[str, Any]:
        """Return the counts of a worker's or model's facts by column name; empty without facts."""
        if self.facts is None:
            return {}
        agreement = self.facts.get_agreement(kind, name)
        return {
            "facts": agreement.facts,
            "fact_agreement": agreement.agreement,
            "fact_agreement_low": agreement.low,
            "fact_agreement_high": agreement.high,
            "fact_questions": self._agreed[kind, name],
            "fact_contradicted": self._contradicted[kind, name],
        }

    def build_question_states(self) -> Mapping[Any, str]:
        """Return, by question, `SPOKEN` if it has facts, else the code of why it has none."""
        if self.facts is None:
            return {}
        spoken = dict.fromkeys(self.facts.questions, ExemplaryAnswer.SPOKEN)
        return {**spoken, **self.facts.silent}

    def count_facts(self) -> FactTotals | None:
        """Return the numbers of facts for the run's summary; None if facts are switched off."""
        if self.facts is None:
            return None
        return count_facts(self.facts)


BATCH = 2000
# Exemplary vectors wider than this are not kept: a bag of words fills the table with zeros.
WIDEST_KEPT = 4096
# The name of the overview among a run's pictures.
HEAT_MAP = "heat-map"
GONE = ("kind", "severity", "statistic", "threshold")
RESULTS: tuple[type[models.Model], ...] = (
    WorkerGrade,
    ExemplaryAnswer,
    AnswerScore,
    LLMScore,
    LLMAnswerScore,
    LLMComparison,
    CrowdFact,
    AnswerFact,
    RunData,
)


def save_results(turn: Turn, grading: Grading, maps: Maps) -> None:
    """Save all results and finish the run; write nothing if another process took it over.

    Results of an earlier attempt, which died before its end, are replaced and never doubled.
    """
    run, results = turn.run_id, grading.build_results()
    facts = FactRows(run, grading.facts)
    # Made before the transaction, in which the run's row is locked.
    input_hash = grading.inputs.compute_hash()
    # One transaction for everything: a page never shows grades without their alarms, and a turn
    # that has lost its claim leaves no row.
    with turn.open_fenced_transaction():
        # Stored draws serve another attempt only, and none follows.
        DrawPart.objects.filter(run=run).delete()
        for result in RESULTS:
            result._default_manager.filter(run=run).delete()
        _insert_rows(WorkerGrade, _iterate_worker_grades(run, grading, results, maps, facts))
        _insert_rows(
            ExemplaryAnswer, _iterate_exemplary_answers(run, grading, results, maps, facts)
        )
        _insert_rows(AnswerScore, _iterate_answer_scores(run, grading, results, maps))
        _insert_rows(LLMScore, _iterate_llm_scores(run, results, facts))
        _insert_rows(LLMAnswerScore, _iterate_llm_answer_scores(run, grading, results, maps))
        _insert_rows(LLMComparison, _iterate_llm_comparisons(run, grading))
        _insert_rows(CrowdFact, facts.iterate_crowd_facts())
        _insert_rows(AnswerFact, facts.iterate_answer_facts())
        save_alarms(run, grading)
        RunData.objects.create(run_id=run, name=HEAT_MAP, data=build_heat_map(grading))
        undefined = results.undefined.list_reasons()
        turn.finish_run(
            RunEnd(
                signature=grading.build_signature(input_hash),
                input_hash=input_hash,
                summary=_build_summary(grading, maps, facts),
                warnings=[warning.as_dict() for warning in grading.warnings],
                reasons=[{k: v for k, v in entry.items() if k != "rows"} for entry in undefined],
            )
        )


def _build_summary(grading: Grading, maps: Maps, facts: FactRows) -> AqerSummary:
    """Return the run's summary: counts, convergence, remedies, map, camps and facts."""
    inputs, aqer = grading.inputs, grading.graded.aqer
    models = inputs.models or ModelAnswers.from_rows([])
    return AqerSummary.from_json(
        {
            **grading.build_summary(),
            "version": VERSION,
            "people_hash": inputs.compute_workers_hash(),
            "draw_agreement": compute_median_agreement(aqer),
            "counts": Counts(
                answers=len(inputs.answered),
                empty_answers=inputs.n_empty,
                workers=len(aqer.workers_),
                questions=len(aqer.questions_),
                models=len(set(models.models)),
                model_answers=len(models),
            ),
            **_build_remedies(grading),
            "map": maps.about,
            "question_camps": build_camps_summary(grading.alarms.camps, inputs.questions),
            "facts": facts.count_facts(),
        }
    )


def _build_remedies(grading: Grading) -> dict[str, Any]:
    """Return the effects of the remedies, with public ids; empty in a run without remedies."""
    inputs, report, changes = grading.inputs, grading.graded.remedies, grading.compute_changes()
    if report is None or changes is None:
        return {}
    public_workers = dict(
        Worker.objects.filter(pk__in=inputs.workers).values_list("pk", "public_id")
    )
    public_questions = dict(
        Question.objects.filter(pk__in=inputs.questions).values_list("pk", "public_id")
    )
    remedies = report.as_dict(
        lambda key: str(public_workers[key]), lambda key: str(public_questions[key])
    )
    if report.suggested is not None:
        remedies["suggested_anchors"]["responses"] = [
            inputs.answered.keys[row] for row in report.suggested.tolist()
        ]
    remedies["gone"] = [
        {
            **{name: getattr(alarm, name) for name in GONE},
            "workers": [str(public_workers[worker]) for worker in alarm.workers],
            "n_questions": len(alarm.questions),
            "message": alarm.message.as_dict(),
            "outcome": alarm.outcome and alarm.outcome.as_dict(),
        }
        for alarm in grading.alarms.gone
    ]
    remedies["camps_now"] = [
        {**vars(camp), "workers": [str(public_workers[worker]) for worker in camp.workers]}
        for camp in grading.alarms.camps_now
    ]
    compared = changes.build_summary()
    for row in compared["movers"]:
        row["worker"] = str(public_workers[row["worker"]])
    return {"remedies": {**remedies, "compared_with_plain": compared}}


def compute_median_agreement(aqer: AQER) -> float | None:
    """Return the median rank correlation of bootstrap draws with the run; None without draws."""
    known = aqer.draw_agreement_[~np.isnan(aqer.draw_agreement_)]
    return float(np.median(known)) if len(known) else None


def _insert_rows(model: type[models.Model], rows: Iterable[models.Model]) -> None:
    """Insert database rows in batches of 2,000."""
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        model._default_manager.bulk_create(batch)


def _iterate_worker_grades(
    run: int, grading: Grading, results: Results, maps: Maps, facts: FactRows
) -> Iterable[WorkerGrade]:
    """Yield the database row of each worker: grade, weight, rank, history, fact counts."""
    aqer = grading.graded.aqer
    code_of_worker = {worker: code for code, worker in enumerate(aqer.workers_.tolist())}
    means = compute_leave_one_out_means(aqer, grading.inputs.answered.workers)
    ranks, contrasts = results.build_rank_cells(), results.build_worker_contrasts()
    for row in results.iterate_workers():
        values = row._asdict()
        code = code_of_worker.get(row.worker)
        yield WorkerGrade(
            run_id=run,
            worker_id=values.pop("worker"),
            support=values.pop("support") == "ok",
            leave_one_out=means.get(row.worker),
            weights=None if code is None else maps.weights[:, code].astype("<f4").tobytes(),
            grades=None if code is None else maps.grades[:, code].astype("<f4").tobytes(),
            **{**values, **facts.build_counts(WORKER, row.worker)},
            **contrasts[row.worker]._asdict(),
            **ranks[row.worker]._asdict(),
        )


def _iterate_exemplary_answers(
    run: int, grading: Grading, results: Results, maps: Maps, facts: FactRows
) -> Iterable[ExemplaryAnswer]:
    """Yield the database row of each question: exemplary answer, map path, camps."""
    aqer, keys, camps = grading.graded.aqer, grading.inputs.answered.keys, grading.alarms.camps
    means, facts_of_question = compute_question_means(grading), facts.build_question_states()
    # Sparse or wide exemplary answers (bags of words) are not stored.
    exemplars = aqer.compute_exemplars()
    is_stored = exemplars.shape[1] <= WIDEST_KEPT and isinstance(exemplars, np.ndarray)
    code_of_question = {question: index for index, question in enumerate(aqer.questions_.tolist())}
    for row in results.iterate_exemplars():
        vector = path = mean_score = own_share = run_share = None
        if row.question in code_of_question:
            index = code_of_question[row.question]
            path = convert_to_bytes(maps.paths[index])
            mean_score, own_share, run_share = (
                convert_nan_to_none(column[index])
                for column in (means, maps.own_share, maps.run_share)
            )
            if is_stored:
                vector = convert_to_bytes(exemplars[index])
        camps_of_question = camps.get(row.question)
        larger, smaller = (camps_of_question and camps_of_question.sizes) or (None, None)
        nearest = [keys[index] for index in (camps_of_question and camps_of_question.nearest) or ()]
        yield ExemplaryAnswer(
            run_id=run,
            question_id=row.question,
            n_answers=row.n_answers,
            nearest_response_id=None if row.nearest is None else keys[row.nearest],
            dispersion=row.dispersion,
            dimension=None if vector is None else exemplars.shape[1],
            vector=vector,
            mean_score=mean_score,
            path=path,
            own_share=own_share,
            run_share=run_share,
            separation=None if camps_of_question is None else camps_of_question.separation,
            larger_camp=larger,
            smaller_camp=smaller,
            larger_nearest_id=nearest[0] if nearest else None,
            smaller_nearest_id=nearest[1] if nearest else None,
            facts=facts_of_question.get(row.question, ""),
        )


def _iterate_answer_scores(
    run: int, grading: Grading, results: Results, maps: Maps
) -> Iterable[AnswerScore]:
    """Yield the database row of each answer with a text: scores and map position."""
    keys = grading.inputs.answered.keys
    for response, row, place in zip(keys, results.iterate_answered(), maps.places, strict=True):
        yield AnswerScore(
            run_id=run,
            response_id=response,
            score=row.score,
            score_leave_one_out=row.score_leave_one_out,
            contrast=row.contrast,
            place=convert_to_bytes(place),
        )


def _iterate_llm_scores(run: int, results: Results, facts: FactRows) -> Iterable[LLMScore]:
    """Yield the database row of each model: score, interval, rank and fact counts."""
    reasons = (
        {}
        if results.models is None
        else dict(zip(results.models.models.tolist(), results.models.reasons, strict=True))
    )
    contrasts = results.build_model_contrasts()
    for row in results.iterate_models():
        values = row._asdict()
        yield LLMScore(
            run_id=run,
            model_id=values.pop("model"),
            reason=reasons.get(row.model) or "",
            **{**values, **facts.build_counts(MODEL, row.model)},
            **contrasts[row.model]._asdict(),
        )


def _iterate_llm_answer_scores(
    run: int, grading: Grading, results: Results, maps: Maps
) -> Iterable[LLMAnswerScore]:
    """Yield the database row of each model's answer: score and map position."""
    if grading.inputs.models is None:
        return
    keys = grading.inputs.models.keys
    for response, row, place in zip(
        keys, results.iterate_model_answers(), maps.of_models, strict=True
    ):
        yield LLMAnswerScore(
            run_id=run,
            llm_response_id=response,
            score=row.score,
            contrast=row.contrast,
            reason=row.reason or "",
            place=convert_to_bytes(place),
        )


def _iterate_llm_comparisons(run: int, grading: Grading) -> Iterable[LLMComparison]:
    """Yield the database row of each compared pair of models: difference, interval, p."""
    models = grading.graded.models
    for pair in models.comparisons if models else ():
        yield LLMComparison(
            run_id=run,
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


def save_alarms(run: int, grading: Grading) -> None:
    """Replace the stored alarms of a run, in the transaction that saves its results."""
    Alarm.objects.filter(run=run).delete()
    alarms = grading.alarms.found
    saved = Alarm.objects.bulk_create(
        Alarm(
            run_id=run,
            place=place,
            kind=alarm.kind,
            severity=alarm.severity,
            statistic=alarm.statistic,
            threshold=alarm.threshold,
            message=alarm.message.as_dict(),
            state=alarm.state,
            outcome=alarm.outcome and alarm.outcome.as_dict(),
            answered=alarm.is_answered,
            evidence=[_build_evidence(grading, exhibit) for exhibit in alarm.exhibits],
        )
        for place, alarm in enumerate(alarms)
    )
    # The links are inserted in bulk: `alarm.workers.set` would need queries for every alarm.
    saved_alarms = list(zip(saved, alarms, strict=True))
    of_workers, of_questions = Alarm.workers.through, Alarm.questions.through
    _insert_rows(
        of_workers,
        (of_workers(alarm=a, worker_id=pk) for a, alarm in saved_alarms for pk in alarm.workers),
    )
    _insert_rows(
        of_questions,
        (
            of_questions(alarm=a, question_id=pk)
            for a, alarm in saved_alarms
            for pk in alarm.questions
        ),
    )


def _build_evidence(grading: Grading, exhibit: SideBySideAnswers) -> dict[str, Any]:
    """Return two example answers of an alarm as primary keys, for JSON."""
    keys, models, row = grading.inputs.answered.keys, grading.inputs.models, exhibit.model_row
    return {
        "question": exhibit.question,
        "left": keys[exhibit.left],
        "right": None if exhibit.right is None else keys[exhibit.right],
        "llm_response": None if row is None or models is None else models.keys[row],
    }
