"""Commands ``evaluate crowd-size`` and ``evaluate plan``: read files, compute, write tables.

A plan first grades the answers as ``evaluate aqer`` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from annotations.exchange import (
    AnswerFile,
    ColumnNames,
    InputError,
    OutputFolder,
    Problem,
    read_answer_grades,
)
from annotations.exchange.reading.answer_grades import refuse_unknown_answers
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.consensus.inputs import GradingInput, Progress, select_graded_answers
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.core.backends import parse_embedder_spec
from evaluation.core.messages.console import format_table
from evaluation.core.options import TERMINAL
from evaluation.grading.files.grading import GradingRequest, grade_files
from evaluation.grading.files.tables import FileGrading
from evaluation.grading.run.maps import compute_question_means
from evaluation.models import Run
from evaluation.runs.files.answers import (
    check_has_answers,
    convert_answers,
    load_precomputed_vectors,
    read_worker_answers,
)
from evaluation.runs.files.metrics import build_study_signature, refuse_to_replace_inputs
from evaluation.runs.flow.forecast import (
    GradedQuestion,
    TypicalAnswer,
    estimate_typical_answer,
)
from evaluation.sample_size.charts import build_crowd_size_chart
from evaluation.sample_size.messages import STANDINGS, format_money
from evaluation.sample_size.methods import FEWEST_VOTERS, QUESTIONS, WORKERS
from evaluation.sample_size.run.plan import (
    QUESTIONS_HEADER,
    WORKERS_HEADER,
    CurrentScore,
    PlanWithRows,
    Widths,
    build_answer_plan,
    build_question_rows,
    build_worker_rows,
)
from evaluation.sample_size.run.trial import (
    COLUMNS,
    CrowdSizeParameters,
    CrowdSizeSummary,
    CrowdSizeTrial,
    PlanParameters,
    TooFewWorkersError,
    build_trial_rows,
    try_smaller_crowds,
)

TABLE, SUMMARY = "crowd_size.csv", "summary.json"


@dataclass(frozen=True)
class TrialRequest:
    """Input files, options and output folder of ``evaluate crowd-size``."""

    answers: Path
    judgements: Path | None
    columns: ColumnNames
    parameters: CrowdSizeParameters
    output: Path
    duplicates: Duplicates = Duplicates.REFUSE
    keep_html: bool = False
    keep_ids: bool = False


@dataclass(frozen=True)
class FileTrial:
    """A crowd size trial of files; `input_hashes` are the SHA-256 of each file, by its role."""

    trial: CrowdSizeTrial
    input_hashes: dict[str, str]
    file_warnings: list[str]

    @property
    def summary(self) -> CrowdSizeSummary:
        """Summary of the trial, as a run would store it."""
        return CrowdSizeSummary.from_trial(self.trial)

    def write_files(self, folder: OutputFolder) -> None:
        """Write crowd_size.csv and summary.json into a folder."""
        folder.write_csv(TABLE, COLUMNS, build_trial_rows(self.summary))
        folder.write_json(SUMMARY, self._build_summary())

    def _build_summary(self) -> dict[str, Any]:
        """Return the content of summary.json for the trial."""
        values = self.summary.as_dict()
        input_hash = combine_hashes(self.input_hashes.values())
        return {
            "signature": self.trial.build_signature(input_hash),
            "parameters": self.trial.parameters.as_dict(),
            "counts": {
                name: values[name]
                for name in ("answers", "workers", "questions", "judged", "judged_workers")
            },
            "measure": values["measure"],
            "verdicts": values["verdicts"],
            "said": TERMINAL.format_messages(self.summary.messages),
            "warnings": TERMINAL.format_messages([*self.file_warnings, *self.trial.warnings]),
            "embedding": self.trial.embedded.info.as_dict(),
            "versions": collect_versions(),
            "input_hash": input_hash,
            "input_hashes": self.input_hashes,
        }


def try_crowd_of_file(request: TrialRequest, progress: Progress | None = None) -> FileTrial:
    """Return the crowd size trial of the answers in the input files, without writing files.

    Raises
    ------
    InputError
        A file cannot be read, or its content cannot be used.
    BackendError
        The answers cannot be embedded.
    """
    target = parse_embedder_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace_inputs(
        request.output, (TABLE, SUMMARY), (request.answers, request.judgements, vectors)
    )
    answers = read_worker_answers(
        request.answers,
        request.columns,
        request.duplicates,
        keep_html=request.keep_html,
        keep_ids=request.keep_ids,
    )
    inputs = select_graded_answers(
        request.parameters.build_grading_parameters(), convert_answers(answers)
    )
    check_has_answers(answers, inputs)
    hashes = answers.hashes
    grades: dict[Any, float] = {}
    if request.judgements is not None:
        grades, hashes["judgements"] = _read_grades(request, inputs, answers)
    embed_texts, vector_hashes = load_precomputed_vectors(inputs, answers, None)
    hashes |= vector_hashes
    try:
        trial = try_smaller_crowds(request.parameters, inputs, grades, embed_texts, progress)
    except TooFewWorkersError:
        raise InputError.single(
            answers.name,
            f"fewer than {FEWEST_VOTERS} workers answered, so there are no smaller crowds to try",
            "Collect answers of more people.",
        ) from None
    return FileTrial(trial, hashes, answers.warnings)


def _read_grades(
    request: TrialRequest, inputs: GradingInput, answers: AnswerFile
) -> tuple[dict[Any, float], str]:
    """Return experts' mean grade of each worker's answer, by answer key, and the file's SHA-256.

    Grades of models' answers are left out. Raises `InputError` if no grade is left, and for a
    grade of a worker's answer that is not in the file of answers.
    """
    assert request.judgements is not None
    judgements = read_answer_grades(request.judgements, request.columns)
    of_workers = [record for record in judgements.records if not record.model]
    judgements = replace(judgements, records=answers.ids.match_record_ids(of_workers))
    if not judgements.records:
        raise InputError([Problem.from_code(judgements.name, None, None, "no_grade")], 1)
    known = inputs.answered
    keys = {
        # "" in place of a model: these are answers of workers.
        (worker, "", question): key
        for key, worker, question in zip(known.keys, known.workers, known.questions, strict=True)
    }
    refuse_unknown_answers(judgements, set(keys), answers.name)
    return {keys[answer]: grade for answer, grade in judgements.compute_mean_grades().items()}, (
        judgements.sha256
    )


PLAN_QUESTIONS, PLAN_WORKERS = "plan_questions.csv", "plan_workers.csv"


@dataclass(frozen=True)
class PlanRequest:
    """Input files, options and output folder of ``evaluate plan``."""

    answers: Path
    models: Path | None
    columns: ColumnNames
    parameters: PlanParameters
    output: Path
    duplicates: Duplicates = Duplicates.REFUSE
    keep_html: bool = False
    keep_ids: bool = False


@dataclass(frozen=True)
class FilePlan:
    """An answer plan of files, with the grading and the typical answer on which it is based."""

    request: PlanRequest
    grading: FileGrading
    plan: PlanWithRows
    typical: TypicalAnswer

    def write_files(self, folder: OutputFolder) -> None:
        """Write plan_questions.csv, plan_workers.csv and summary.json."""
        folder.write_csv(PLAN_QUESTIONS, QUESTIONS_HEADER, build_question_rows(self.plan))
        folder.write_csv(PLAN_WORKERS, WORKERS_HEADER, build_worker_rows(self.plan))
        folder.write_json(SUMMARY, self._build_summary())

    def _build_summary(self) -> dict[str, Any]:
        """Return the content of summary.json for the plan."""
        parameters, input_hash = self.request.parameters, self.grading.input_hash
        return {
            "signature": build_study_signature("plan", parameters, input_hash),
            "parameters": parameters.as_dict(),
            "plan": asdict(self.plan.plan),
            "typical_answer": asdict(self.typical),
            "models": [asdict(model) for model in self.plan.models],
            "said": TERMINAL.format_messages(self.plan.messages),
            "warnings": self.grading.warnings,
            "versions": collect_versions(),
            "input_hash": input_hash,
            "input_hashes": self.grading.input_hashes,
        }


def plan_answers_of_file(request: PlanRequest, progress: Progress | None = None) -> FilePlan:
    """Return the answer plan for the answers in the input files, without writing files.

    Raises
    ------
    InputError
        A file cannot be read, or its content cannot be used.
    BackendError
        The answers cannot be embedded.
    """
    target = parse_embedder_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace_inputs(
        request.output,
        (PLAN_QUESTIONS, PLAN_WORKERS, SUMMARY),
        (request.answers, request.models, vectors),
    )
    grading = grade_files(
        GradingRequest(
            answers=request.answers,
            models=request.models,
            columns=request.columns,
            parameters=request.parameters.build_grading_parameters(),
            output=request.output,
            duplicates=request.duplicates,
            keep_html=request.keep_html,
            keep_ids=request.keep_ids,
            # This command's own files are checked above; the grading itself writes none.
            overwrite=True,
        ),
        progress,
    )
    questions = _list_graded_questions(request, grading)
    plan = _build_answer_plan(request, grading, questions)
    return FilePlan(request, grading, plan, estimate_typical_answer(questions))


def _list_graded_questions(request: PlanRequest, file: FileGrading) -> list[GradedQuestion]:
    """Return the questions of a grading that have an answer."""
    grading = file.grading
    aqer = grading.graded.aqer
    means = dict(
        zip(aqer.questions_.tolist(), compute_question_means(grading).tolist(), strict=True)
    )
    cosine = request.parameters.similarity == "cosine"
    questions = []
    for row in grading.build_results().iterate_exemplars():
        if row.n_answers:
            mean = means[row.question]
            # The forecast of the error is defined for cosines only.
            left_out = mean if cosine and not math.isnan(mean) else None
            questions.append(GradedQuestion(row.question, row.question, row.n_answers, left_out))
    return questions


def _build_answer_plan(
    request: PlanRequest, file: FileGrading, questions: list[GradedQuestion]
) -> PlanWithRows:
    """Return how many more answers to collect; scores without an interval are left out."""
    aqer, results = file.grading.graded.aqer, file.grading.build_results()
    supported = dict(zip(aqer.workers_.tolist(), aqer.supported_.tolist(), strict=True))
    workers = [
        CurrentScore(row.worker, row.worker, row.n_answers, row.raw_high - row.raw_low)
        for row in results.iterate_workers()
        if supported.get(row.worker) and row.raw_low is not None and row.raw_high is not None
    ]
    models = [
        CurrentScore(row.model, row.model, row.n, row.score_high - row.score_low)
        for row in results.iterate_models()
        if row.n and row.score_low is not None and row.score_high is not None
    ]
    return build_answer_plan(
        request.parameters.get_plan_targets(), questions, workers, models, len(aqer.workers_)
    )


def run_crowd_size(
    parameters: CrowdSizeParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Run ``evaluate crowd-size``: write its files and return the text to print."""
    request = TrialRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        keep_html=arguments["keep_html"],
        keep_ids=arguments["keep_ids"],
        judgements=arguments["judgements"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
    )
    with OutputFolder(request.output) as folder:
        trial = try_crowd_of_file(request, progress)
        trial.write_files(folder)
        for by in (WORKERS, QUESTIONS):
            chart = build_crowd_size_chart(trial.summary.points, by)
            if chart is not None:
                folder.open(f"{chart.name}.svg").write(chart.build_standalone_svg().encode())
    warnings = TERMINAL.format_messages([*trial.file_warnings, *trial.trial.warnings])
    parts = [format_crowd_size(trial.summary), *(f"Warning: {warning}" for warning in warnings)]
    return "\n\n".join([*parts, f"Files: {request.output}"])


CROWD_SIZE_HEADER = ("by", "size", "measure", "r", "low", "high", "draws")


def format_crowd_size(summary: CrowdSizeSummary) -> str:
    """Return counts, agreement by size, and verdicts as text for the terminal."""
    rows = [
        (point.by, point.size, point.measure, point.pearson, point.low, point.high, point.n_draws)
        for point in summary.points
        if point.measure == summary.measure
    ]
    counts = (
        f"{summary.answers} answers of {summary.workers} workers to {summary.questions} questions, "
        f"{summary.judged} of them judged; {summary.repetitions} draws of each size"
    )
    return "\n\n".join(
        [
            counts,
            format_table(CROWD_SIZE_HEADER, rows),
            "\n".join(TERMINAL.format_messages(summary.messages)),
        ]
    )


def format_crowd_size_run(run: Run) -> str:
    """Return the text that ``run crowd-size`` prints about a finished run."""
    return format_crowd_size(CrowdSizeSummary.from_json(run.summary))


def run_plan(parameters: PlanParameters, arguments: Mapping[str, Any], progress: Progress) -> str:
    """Run ``evaluate plan``: write its files and return the text to print."""
    request = PlanRequest(
        answers=arguments["answers"],
        models=arguments["models"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
        duplicates=arguments["duplicates"],
        keep_html=arguments["keep_html"],
        keep_ids=arguments["keep_ids"],
    )
    with OutputFolder(request.output) as folder:
        file_plan = plan_answers_of_file(request, progress)
        file_plan.write_files(folder)
    warnings = (f"Warning: {warning}" for warning in file_plan.grading.warnings)
    return "\n\n".join([format_plan(file_plan.plan), *warnings, f"Files: {request.output}"])


# Most questions in the text; the file has all.
MAX_SHOWN = 20
PLAN_HEADER = ("question", "answers", "needed", "more", "cost", "off", "then", "")


def format_plan(plan_with_rows: PlanWithRows) -> str:
    """Return an answer plan as text: messages, questions to buy answers for, interval widths."""
    plan = plan_with_rows.plan
    rows = [
        (
            *(row.name, row.answers, row.needed, row.more, format_money(row.cost, None)),
            *(row.off, row.off_then, STANDINGS[row.standing]),
        )
        for row in plan_with_rows.questions
        if row.more or row.standing == "beyond"
    ]
    parts = ["\n".join(TERMINAL.format_messages(plan_with_rows.messages))]
    if rows:
        parts.append(format_table(PLAN_HEADER, rows[:MAX_SHOWN]))
        if len(rows) > MAX_SHOWN:
            parts[-1] += f"\n... and {len(rows) - MAX_SHOWN} more in plan_questions.csv"
    widths = [
        _format_widths(group, row)
        for group, row in (("workers", plan.workers), ("models", plan.models))
        if row
    ]
    parts.append("\n".join(widths) or "No worker's score has an interval, so none can be narrowed.")
    if plan.cost is not None:
        so_far, more = (
            format_money(plan.cost, plan.currency),
            format_money(plan.total_cost, plan.currency),
        )
        parts.append(f"So far {so_far} for {plan.answers:,} answers; this plan {more} more.")
    return "\n\n".join(parts)


def _format_widths(group: str, widths: Widths) -> str:
    """Return a sentence on the interval widths of workers or models, now and with the plan."""
    return (
        f"Intervals of {widths.scores} {group}: the middle one {widths.now:.3f} wide, then "
        f"{widths.then:.3f}; the widest {widths.widest:.3f}, then {widths.widest_then:.3f}; "
        f"narrow enough {widths.narrow}, then {widths.narrow_then}."
    )
