"""Build the tables of a run for download, and rows of the result files.

Read stored results of a run as rows of the result files, with external ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import F, FilteredRelation, OuterRef, Q, Subquery

from annotations.models import Question, Response
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.grading.alarms.report import iterate_alarms_with_ids
from evaluation.grading.alarms.run.detection import COLUMNS, Alarm, join_ids
from evaluation.grading.facts.report import COUNTED, FactAgreement
from evaluation.grading.results.report.against import RunComparison
from evaluation.grading.results.report.comparisons import iterate_pairs, read_question_gaps
from evaluation.grading.results.report.maps import decode_floats, read_heat_rows
from evaluation.grading.results.report.models import ModelRow as ModelReportRow
from evaluation.grading.results.report.models import read_model_rows
from evaluation.grading.results.report.questions import ORDERS
from evaluation.grading.results.report.workers import WorkerRow as WorkerReportRow
from evaluation.grading.results.report.workers import iterate_worker_rows
from evaluation.grading.run.results import (
    TOO_FEW,
    ContrastCells,
    GradeChange,
    GradeChanges,
    ModelRow,
    WorkerRow,
)
from evaluation.grading.summary import read_summary
from evaluation.models import (
    AnswerFact,
    AnswerScore,
    CrowdFact,
    ExemplaryAnswer,
    LLMAnswerScore,
    LLMScore,
    Run,
    WorkerGrade,
)
from evaluation.runs.reports.lists import Table
from evaluation.runs.reports.planner import build_planner_report


def read_workers(run: Run) -> list[WorkerRow]:
    """Return a row of workers.csv for each worker of a run, in the order of first answers."""
    columns = WorkerRow._fields[1:]
    rows = WorkerGrade.objects.filter(run=run).order_by("pk")
    return [
        WorkerRow(name, *values)._replace(support="ok" if supported else TOO_FEW)
        for name, supported, *values in rows.values_list("worker__external_id", "support", *columns)
    ]


def read_models(run: Run) -> list[ModelRow]:
    """Return a row of models.csv for every model of a run."""
    rows = LLMScore.objects.filter(run=run).order_by("pk")
    return [ModelRow(*row) for row in rows.values_list("model__name", *ModelRow._fields[1:])]


def read_alarms(run: Run) -> list[Alarm]:
    """Return the alarms of a run, without their example answers."""
    return [
        Alarm(
            kind=alarm.kind,
            severity=alarm.severity,
            statistic=alarm.statistic,
            threshold=alarm.threshold,
            workers=tuple(workers),
            questions=tuple(questions),
            message=alarm.message,
            outcome=alarm.outcome,
            reviewed=alarm.state,
        )
        for alarm, workers, questions in iterate_alarms_with_ids(run)
    ]


def read_gone_alarms(run: Run) -> list[Alarm]:
    """Return the alarms that vanished when workers were excluded, without question names."""
    remedies = read_summary(run).remedies
    gone = () if remedies is None else remedies.gone
    names = _read_names(run, {worker for alarm in gone for worker in alarm.workers})
    return [
        Alarm(
            kind=alarm.kind,
            severity=alarm.severity,
            statistic=alarm.statistic,
            threshold=alarm.threshold,
            workers=tuple(names[worker] for worker in alarm.workers if worker in names),
            questions=(),
            message=Message.from_stored(alarm.message),
            outcome=Message.from_stored(alarm.outcome),
        )
        for alarm in gone
    ]


def read_grade_changes(run: Run) -> GradeChanges | None:
    """Return the largest changes of grades by a run's remedies; None without remedies."""
    remedies = read_summary(run).remedies
    if remedies is None:
        return None
    compared = remedies.compared_with_plain
    names = _read_names(run, [row.worker for row in compared.movers])
    movers = (
        GradeChange(**{**asdict(row), "worker": names.get(row.worker, "")})
        for row in compared.movers
    )
    return GradeChanges(tuple(movers), compared.spearman, compared.n, compared.reason)


def _read_names(run: Run, workers: Iterable[str]) -> dict[str, str]:
    """Return the external ids of some workers of a run by public id."""
    rows = run.worker_grades.filter(worker__public_id__in=list(workers))
    return {
        str(public): name
        for public, name in rows.values_list("worker__public_id", "worker__external_id")
    }


Row = Sequence[object]
# Rows in memory at once: tables are streamed.
AT_ONCE = 2000
# Columns of workers.csv and models.csv.
FACTS = COUNTED[:4]
CONTRAST = ContrastCells._fields


def build_workers_table(run: Run) -> Table:
    """Return the table of all workers, best grade first."""
    header = (
        *("rank", "rank_low", "rank_high", "worker", "panel", "grade", "grade_low", "grade_high"),
        *("raw", "raw_low", "raw_high", "leave_one_out", "weight", "support", "n_answers"),
        *FACTS,
        *("raw_leave_one_out", *CONTRAST),
    )
    return Table(
        header,
        (
            (
                *(row.rank, row.rank_low, row.rank_high, row.name, row.panel),
                *(row.grade.value, row.grade.low, row.grade.high),
                *(row.raw.value, row.raw.low, row.raw.high, row.leave_one_out, row.weight),
                *("ok" if row.supported else "too_few", row.n_answers),
                *_build_fact_cells(row.facts),
                row.raw_leave_one_out,
                *_build_contrast_cells(row),
            )
            for row in iterate_worker_rows(run)
        ),
    )


def build_alarms_table(run: Run) -> Table:
    """Return the alarms as the table alarms.csv, most severe first."""
    return Table(
        COLUMNS,
        (
            (
                *(alarm.kind, alarm.severity, alarm.statistic, alarm.threshold),
                *(join_ids(workers), join_ids(questions), TERMINAL.format_message(alarm.message)),
                *(
                    alarm.state,
                    "" if alarm.outcome is None else TERMINAL.format_message(alarm.outcome),
                ),
            )
            for alarm, workers, questions in iterate_alarms_with_ids(run)
        ),
    )


def build_questions_table(run: Run) -> Table:
    """Return the table of all questions, with the consensus (nearest) answer in full."""
    rows = (
        ExemplaryAnswer.objects.filter(run=run)
        .order_by(*ORDERS["position"].build_order_by())
        .values_list(
            "question__external_id",
            "question__text",
            "n_answers",
            "dispersion",
            "mean_score",
            "nearest_response__submission__worker__external_id",
            "nearest_response__text",
        )
    )
    header = (
        *("question", "text", "n_answers", "dispersion", "mean_score_leave_one_out"),
        *("nearest_worker", "nearest_answer"),
    )
    return Table(header, rows.iterator(AT_ONCE))


def build_models_table(run: Run) -> Table:
    """Return the table of all language models, best score first."""
    header = (
        *("rank", "model", "details", "score", "score_low", "score_high", "score_answered"),
        *("n", "n_answered", "percentile", "reason"),
        *FACTS,
        *CONTRAST,
    )
    return Table(header, (_build_model_row(row) for row in _iterate_models(run)))


def _iterate_models(run: Run) -> Iterable[ModelReportRow]:
    """Yield all models of a run by score, reading page by page."""
    page = read_model_rows(run, size=AT_ONCE)
    yield from page.rows
    while page.next:
        page = read_model_rows(run, page.next, size=AT_ONCE)
        yield from page.rows


def _build_model_row(row: ModelReportRow) -> Row:
    """Return a model's row of the models table, in the order of its columns."""
    score = row.score
    return (
        *(row.rank, row.name, row.details, score.value, score.low, score.high),
        *(row.score_answered, row.n, row.n_answered, row.percentile, row.reason),
        *_build_fact_cells(row.facts),
        *_build_contrast_cells(row),
    )


def _build_contrast_cells(row: WorkerReportRow | ModelReportRow) -> Row:
    """Return the cells of a worker's or model's question contrast, with its interval."""
    return row.contrast.value, row.contrast.low, row.contrast.high


def _build_fact_cells(standing: FactAgreement) -> Row:
    """Return a worker's or model's cells on facts: number, agreement and interval."""
    agreement = standing.agreement
    return standing.facts, agreement.value, agreement.low, agreement.high


def build_facts_table(run: Run) -> Table:
    """Return the table facts.csv: values that workers state; empty without facts."""
    rows = CrowdFact.objects.filter(run=run).order_by("place")
    header = ("question", "slot", "value", "mentions", "of", "state")
    return Table(header, rows.values_list("question__external_id", *header[1:]).iterator(AT_ONCE))


def build_answer_facts_table(run: Run) -> Table:
    """Return the table answer_facts.csv: facts of each answer; empty without facts."""
    rows = AnswerFact.objects.filter(run=run).order_by("place")
    header = ("kind", "name", "question", "slot", "value", "verdict", "of")
    names = ("response__submission__worker__external_id", "llm_response__model__name")
    values = rows.values_list(*names, "question__external_id", *header[3:])
    return Table(
        header,
        (
            ("worker", worker, *cells) if model is None else ("model", model, *cells)
            for worker, model, *cells in values.iterator(AT_ONCE)
        ),
    )


def build_model_answers_table(run: Run) -> Table:
    """Return the table model_answers.csv: each scored model answer, models by name."""
    rows = (
        LLMAnswerScore.objects.filter(run=run)
        .order_by(
            "llm_response__model__name",
            "llm_response__question__position",
            "llm_response__question__public_id",
        )
        .values_list(
            *("llm_response__model__name", "llm_response__question__external_id"),
            *("score", "reason", "contrast"),
        )
    )
    header = ("model", "question", "score", "reason", "contrast")
    return Table(header, rows.iterator(AT_ONCE))


def build_comparisons_table(run: Run) -> Table:
    """Return the table of all compared pairs of models."""
    header = (
        *("model_a", "model_b", "difference", "low", "high", "p_value", "adjusted_p_value"),
        *("smallest_detectable", "n", "test", "reason"),
    )
    return Table(
        header,
        (
            (
                *(pair.first_name, pair.second_name),
                *(pair.difference.value, pair.difference.low, pair.difference.high),
                *(pair.p_value, pair.adjusted_p_value, pair.smallest_detectable),
                *(pair.n, pair.test, pair.reason),
            )
            for pair in iterate_pairs(run)
        ),
    )


def build_differences_table(run: Run, first: UUID, second: UUID) -> Table:
    """Return the table of two models' scores by question, largest difference first."""
    return Table(
        ("question", "text", "score_a", "score_b", "difference"),
        _iterate_difference_rows(run, first, second),
    )


def _iterate_difference_rows(run: Run, first: UUID, second: UUID) -> Iterable[Row]:
    """Yield the row of each question: id, text, both models' scores and their difference."""
    cells_of_question = {
        key: cells
        for key, *cells in Question.objects.filter(version=run.version_id).values_list(
            "pk", "external_id", "text"
        )
    }
    for gap in read_question_gaps(run, first, second):
        scores = (gap.first_score, gap.second_score, gap.first_score - gap.second_score)
        yield (*cells_of_question[gap.question], *scores)


def build_heat_map_table(run: Run) -> Table:
    """Return the table of leave-one-out scores, one row per worker, a column per question."""
    questions, rows = read_heat_rows(run)
    return Table(("worker", "grade", *questions), rows)


def build_planner_table(run: Run) -> Table:
    """Return the table of expected errors by number of answers; empty without a plan."""
    report = build_planner_report(run)
    header = ("answers", "similarity", "average_error", "worst_error", "delta")
    rows = [
        (plan.workers, plan.mu, plan.average_error, plan.worst_error, plan.delta)
        for plan in report.curve
    ]
    return Table(header, rows)


def build_run_comparison_table(report: RunComparison) -> Table:
    """Return the table of workers' grades and ranks in two runs, largest change first."""
    header = (
        *("worker", "rank_before", "rank_after", "ranks_gained"),
        *("grade_before", "grade_after", "common_rank_before", "common_rank_after"),
    )
    return Table(
        header,
        (
            (
                *(row.name, row.rank_before, row.rank_after, row.moved),
                *(row.grade_before, row.grade_after, row.place_before, row.place_after),
            )
            for row in report.workers
        ),
    )


def build_convergence_table(run: Run) -> Table:
    """Return the table of the change of the voting weights at each iteration."""
    return Table(("iteration", "rmse"), enumerate(read_summary(run).trace, 1))


def build_worker_answers_table(run: Run, worker: UUID) -> Table:
    """Return the table of a worker's full answers with their scores."""
    rows: Any = (
        Response.objects.filter(
            submission__worker__public_id=worker,
            submission__version=run.version_id,
            state=Response.State.SUBMITTED,
        )
        .annotate(of_run=FilteredRelation("scores", condition=Q(scores__run=run)))
        .order_by("question__position", "question__public_id")
        .values_list(
            "submission__worker__external_id",
            "question__external_id",
            "question__text",
            "text",
            F("of_run__score"),
            F("of_run__score_leave_one_out"),
            F("of_run__contrast"),
        )
    )
    header = ("worker", "question", "text", "answer", "score", "score_leave_one_out", "contrast")
    return Table(header, rows.iterator(AT_ONCE))


def build_question_answers_table(run: Run, question: UUID) -> Table:
    """Return the table of workers' answers to a question by score, then the models'."""
    header = (
        *("worker", "model", "question", "answer", "status"),
        *("score", "score_leave_one_out", "reason", "contrast"),
    )
    return Table(header, _iterate_answers(run, question))


def _iterate_answers(run: Run, question: UUID) -> Iterable[Row]:
    """Yield the table rows of workers' answers to a question, then of models' answers."""
    of_workers = (
        AnswerScore.objects.filter(run=run, response__question__public_id=question)
        .order_by(F("score").desc(nulls_last=True), "response__public_id")
        .values_list(
            "response__submission__worker__external_id",
            "response__question__external_id",
            "response__text",
            "response__status",
            "score",
            "score_leave_one_out",
            "contrast",
        )
    )
    for *worker, contrast in of_workers.iterator(AT_ONCE):
        yield (worker[0], None, *worker[1:], None, contrast)
    of_models = (
        LLMAnswerScore.objects.filter(run=run, llm_response__question__public_id=question)
        .order_by(F("score").desc(nulls_last=True), "llm_response__model__name")
        .values_list(
            "llm_response__model__name",
            "llm_response__question__external_id",
            "llm_response__text",
            "llm_response__status",
            "score",
            "reason",
        )
    )
    for *model, reason in of_models.iterator(AT_ONCE):
        yield (None, *model, None, reason, None)


def build_map_table(run: Run, question: UUID) -> Table:
    """Return the table of map coordinates of a question's answers and its exemplary answer.

    `x` and `y` are on the axes of the run, `own_x` and `own_y` on those of the question, in the
    units of the vectors. Empty where the run recorded no map.
    """
    header = (
        *("what", "worker", "model", "iteration", "x", "y", "own_x", "own_y"),
        *("weight", "grade", "score", "answer"),
    )
    return Table(header, _iterate_map_rows(run, question))


def _iterate_map_rows(run: Run, question: UUID) -> Iterable[Row]:
    """Yield the rows of map coordinates of answers, models' answers and the consensus."""
    graded = WorkerGrade.objects.filter(
        run=run, worker=OuterRef("response__submission__worker")
    ).order_by()
    of_workers = (
        AnswerScore.objects.filter(
            run=run, response__question__public_id=question, place__isnull=False
        )
        .order_by(F("score").desc(nulls_last=True), "response__public_id")
        .values_list(
            "response__submission__worker__external_id",
            "place",
            Subquery(graded.values("weight")),
            Subquery(graded.values("grade")),
            "score",
            "response__text",
        )
    )
    for name, place, *rest in of_workers.iterator(AT_ONCE):
        yield ("worker", name, None, None, *decode_floats(place or b""), *rest)
    of_models = (
        LLMAnswerScore.objects.filter(
            run=run, llm_response__question__public_id=question, place__isnull=False
        )
        .order_by(F("score").desc(nulls_last=True), "llm_response__model__name")
        .values_list("llm_response__model__name", "place", "score", "llm_response__text")
    )
    for name, place, score, text in of_models.iterator(AT_ONCE):
        yield ("model", None, name, None, *decode_floats(place or b""), None, None, score, text)
    path = (
        ExemplaryAnswer.objects.filter(run=run, question__public_id=question)
        .values_list("path", flat=True)
        .first()
    )
    if path is not None:
        numbers, about = decode_floats(path), read_summary(run).map
        for index, iteration in enumerate(about.iterations if about else ()):
            place = numbers[4 * index : 4 * index + 4]
            yield ("consensus", None, None, iteration, *place, None, None, None, None)
