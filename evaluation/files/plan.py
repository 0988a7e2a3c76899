"""Plan further answers of a file: what ``manage.py evaluate plan`` does around the flow.

Grade the answers as ``evaluate aqer`` would, plan, and write all files together.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotations.exchange import ColumnNames, OutputFolder
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.backends import parse_spec
from evaluation.files.graded import FileGrading
from evaluation.files.grading import GradingRequest, graded
from evaluation.files.metrics import refuse_to_replace, study_signature
from evaluation.flow.maps import question_means
from evaluation.flow.plan.plan import Planned, QuestionNow, ScoreNow, planned
from evaluation.flow.plan.rows import (
    QUESTIONS_HEADER,
    WORKERS_HEADER,
    question_rows,
    worker_rows,
)
from evaluation.flow.plan.wishes import PlanParameters
from evaluation.flow.signatures import versions
from evaluation.flow.vectors import Progress
from evaluation.options import TERMINAL

QUESTIONS, WORKERS, SUMMARY = "plan_questions.csv", "plan_workers.csv", "summary.json"


@dataclass(frozen=True)
class PlanRequest:
    """What to plan for, how, and where the files go."""

    answers: Path
    models: Path | None
    columns: ColumnNames
    parameters: PlanParameters
    output: Path
    duplicates: Duplicates = Duplicates.REFUSE


@dataclass(frozen=True)
class FilePlan:
    """What came of it."""

    request: PlanRequest
    graded: FileGrading
    found: Planned

    def write(self, folder: OutputFolder) -> None:
        """Write plan_questions.csv, plan_workers.csv and summary.json."""
        found = self.found
        folder.write_csv(QUESTIONS, QUESTIONS_HEADER, question_rows(found))
        folder.write_csv(WORKERS, WORKERS_HEADER, worker_rows(found))
        folder.write_json(SUMMARY, self._summary())

    def _summary(self) -> dict[str, Any]:
        parameters, input_hash = self.request.parameters, self.graded.input_hash
        return {
            "signature": study_signature("plan", parameters, input_hash),
            "parameters": parameters.as_dict(),
            "plan": asdict(self.found.plan),
            "models": [asdict(model) for model in self.found.models],
            "said": TERMINAL.all_said(self.found.messages),
            "warnings": self.graded.warnings,
            "versions": versions(),
            "input_hash": input_hash,
            "input_hashes": self.graded.input_hashes,
        }


def plan_file(request: PlanRequest, progress: Progress | None = None) -> FilePlan:
    """Grade and plan; nothing is written. Raises `InputError` and `BackendError`."""
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace(
        request.output, (QUESTIONS, WORKERS, SUMMARY), (request.answers, request.models, vectors)
    )
    grading = graded(
        GradingRequest(
            answers=request.answers,
            models=request.models,
            columns=request.columns,
            parameters=request.parameters.grading(),
            output=request.output,
            duplicates=request.duplicates,
            overwrite=True,
        ),
        progress,
    )
    return FilePlan(request, grading, _planned(request, grading))


def _planned(request: PlanRequest, file: FileGrading) -> Planned:
    grading = file.grading
    aqer, results = grading.graded.aqer, grading.results()
    means = dict(zip(aqer.questions_.tolist(), question_means(grading).tolist(), strict=True))
    cosine = request.parameters.similarity == "cosine"
    questions = []
    for row in results.exemplars():
        if row.n_answers:
            mean = means[row.question]
            left_out = mean if cosine and not math.isnan(mean) else None
            questions.append(QuestionNow(row.question, row.question, row.n_answers, left_out))
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
    return planned(request.parameters.wishes(), questions, workers, models, len(aqer.workers_))
