"""Files of ``evaluate crowd-size`` and ``evaluate plan``: read answers, compute, write tables.

A plan first grades the answers as ``evaluate aqer`` does.
"""

from __future__ import annotations

import math
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
from evaluation.core.backends import parse_spec
from evaluation.core.options import TERMINAL
from evaluation.grading.files.grading import GradingRequest, grade_files
from evaluation.grading.files.tables import FileGrading
from evaluation.grading.run.maps import compute_question_means
from evaluation.runs.files.answers import (
    check_not_empty,
    convert_answers,
    load_precomputed,
    read_worker_answers,
)
from evaluation.runs.files.metrics import build_study_signature, refuse_to_replace
from evaluation.runs.flow.forecast import GradedQuestion
from evaluation.sample_size.methods import FEWEST_VOTERS
from evaluation.sample_size.run.plan import (
    QUESTIONS_HEADER,
    WORKERS_HEADER,
    PlanWithRows,
    ScoreNow,
    build_plan,
    build_question_rows,
    build_worker_rows,
)
from evaluation.sample_size.run.trial import (
    COLUMNS,
    CrowdSizeParameters,
    CrowdSizeSummary,
    PlanParameters,
    TooFewWorkersError,
    Trial,
    build_trial_rows,
    try_crowd,
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


@dataclass(frozen=True)
class FileTrial:
    """Crowd size trial computed from files; `input_hashes` are SHA-256 by input."""

    trial: Trial
    input_hashes: dict[str, str]
    file_warnings: list[str]

    @property
    def summary(self) -> CrowdSizeSummary:
        """Summary of the trial, as a run would store it."""
        return CrowdSizeSummary.from_trial(self.trial)

    def write(self, folder: OutputFolder) -> None:
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
            "said": TERMINAL.format_all(self.summary.messages),
            "warnings": TERMINAL.format_all([*self.file_warnings, *self.trial.warnings]),
            "embedding": self.trial.embedded.info.as_dict(),
            "versions": collect_versions(),
            "input_hash": input_hash,
            "input_hashes": self.input_hashes,
        }


def try_file(request: TrialRequest, progress: Progress | None = None) -> FileTrial:
    """Read the input files and score with smaller crowds; writes nothing.

    Raises
    ------
    InputError
        A file cannot be read, or its content cannot be used.
    BackendError
        The answers cannot be embedded.
    """
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace(
        request.output, (TABLE, SUMMARY), (request.answers, request.judgements, vectors)
    )
    answers = read_worker_answers(request.answers, request.columns, request.duplicates)
    inputs = select_graded_answers(request.parameters.grading(), convert_answers(answers))
    check_not_empty(answers, inputs)
    hashes = answers.hashes
    grades: dict[Any, float] = {}
    if request.judgements is not None:
        grades, hashes["judgements"] = _read_grades(request, inputs, answers)
    embed_texts, vector_hashes = load_precomputed(inputs, answers, None)
    hashes |= vector_hashes
    try:
        trial = try_crowd(request.parameters, inputs, grades, embed_texts, progress)
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
    """Return experts' mean grades of workers' answers by answer key, and the file's SHA-256.

    Grades of models' answers are left out. Raises `InputError` if no grade is left, and for a
    grade of a worker's answer that is not in the file of answers.
    """
    assert request.judgements is not None
    judgements = read_answer_grades(request.judgements, request.columns)
    judgements = replace(
        judgements, records=[record for record in judgements.records if not record.model]
    )
    if not judgements.records:
        raise InputError([Problem.from_code(judgements.name, None, None, "no_grade")], 1)
    known = inputs.answered
    keys = {
        # "" in place of a model: these are answers of workers.
        (worker, "", question): key
        for key, worker, question in zip(known.keys, known.workers, known.questions, strict=True)
    }
    refuse_unknown_answers(judgements, set(keys), answers.name)
    return {keys[answer]: grade for answer, grade in judgements.means().items()}, (
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


@dataclass(frozen=True)
class FilePlan:
    """Answer plan computed from files, with the grading that it is based on."""

    request: PlanRequest
    grading: FileGrading
    plan: PlanWithRows

    def write(self, folder: OutputFolder) -> None:
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
            "models": [asdict(model) for model in self.plan.models],
            "said": TERMINAL.format_all(self.plan.messages),
            "warnings": self.grading.warnings,
            "versions": collect_versions(),
            "input_hash": input_hash,
            "input_hashes": self.grading.input_hashes,
        }


def plan_file(request: PlanRequest, progress: Progress | None = None) -> FilePlan:
    """Grade the answers in the input files and plan further answers; writes nothing.

    Raises
    ------
    InputError
        A file cannot be read, or its content cannot be used.
    BackendError
        The answers cannot be embedded.
    """
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace(
        request.output,
        (PLAN_QUESTIONS, PLAN_WORKERS, SUMMARY),
        (request.answers, request.models, vectors),
    )
    grading = grade_files(
        GradingRequest(
            answers=request.answers,
            models=request.models,
            columns=request.columns,
            parameters=request.parameters.grading(),
            output=request.output,
            duplicates=request.duplicates,
            # This command's own files are checked above; the grading itself writes none.
            overwrite=True,
        ),
        progress,
    )
    return FilePlan(request, grading, _build_plan(request, grading))


def _build_plan(request: PlanRequest, file: FileGrading) -> PlanWithRows:
    """Return the answer plan of a grading, ignoring scores without an interval."""
    grading = file.grading
    aqer, results = grading.graded.aqer, grading.results()
    means = dict(
        zip(aqer.questions_.tolist(), compute_question_means(grading).tolist(), strict=True)
    )
    cosine = request.parameters.similarity == "cosine"
    questions = []
    for row in results.exemplars():
        if row.n_answers:
            mean = means[row.question]
            # The forecast of the error is defined for cosines only.
            left_out = mean if cosine and not math.isnan(mean) else None
            questions.append(GradedQuestion(row.question, row.question, row.n_answers, left_out))
    supported = dict(zip(aqer.workers_.tolist(), aqer.supported_.tolist(), strict=True))
    workers = [
        ScoreNow(row.worker, row.worker, row.n_answers, row.raw_high - row.raw_low)
        for row in results.workers()
        if supported.get(row.worker) and row.raw_low is not None and row.raw_high is not None
    ]
    models = [
        ScoreNow(row.model, row.model, row.n, row.score_high - row.score_low)
        for row in results.model_scores()
        if row.n and row.score_low is not None and row.score_high is not None
    ]
    return build_plan(request.parameters.wishes(), questions, workers, models, len(aqer.workers_))
