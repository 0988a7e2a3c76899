"""Rows to columns: what goes into a run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from typing import Any

from annotations.exchange import AnswerStatus
from annotations.models import Response
from evaluation.flow.parameters import AqerParameters
from evaluation.models import LLMResponse, Run
from evaluation.steps.checkpoints import RunInputError
from evaluation.steps.outside import excluded_ids, mean_judgements


@dataclass(frozen=True)
class RunInput:
    """The answers of a version, in columns of N workers' and R models' answers.

    Ids are primary keys. Answers that were refused where they were collected are left out, unless
    the parameters include them.

    Attributes
    ----------
    everybody, asked : all workers with a submission that holds an answer, empty ones too, and all
        questions that were asked, in the order of their first row.
    n_empty : answers without a text. n_rejected : answers that were left out as refused.
    excluded : workers who do not vote. judged : rows of the answers that experts graded, and their
        mean grades, where a run uses them.
    """

    run: Run
    parameters: AqerParameters
    responses: list[int]
    workers: list[int]
    questions: list[int]
    texts: list[str]
    everybody: list[int]
    asked: list[int]
    n_empty: int
    n_rejected: int
    llm_responses: list[int]
    models: list[int]
    model_questions: list[int]
    model_texts: list[str]
    statuses: list[AnswerStatus]
    excluded: list[int] = field(default_factory=list)
    judged: list[tuple[int, float]] = field(default_factory=list)

    def hash(self) -> str:
        """Return the SHA-256 over all ids and texts, so that anyone sees that data changed."""
        digest = hashlib.sha256()
        for columns in (
            zip(self.workers, self.questions, self.texts, strict=True),
            zip(self.models, self.model_questions, self.model_texts, self.statuses, strict=True),
        ):
            for row in columns:
                digest.update("\x1f".join(map(str, row)).encode() + b"\x1e")
            digest.update(b"\x1d")
        for at, grade in self.judged:
            digest.update(f"{self.responses[at]}\x1f{grade!r}\x1e".encode())
        return digest.hexdigest()


def load(run_id: int) -> RunInput:
    """Read a run's answers. Raises `RunInputError` where there is nothing to grade."""
    run = Run.objects.select_related("version").get(pk=run_id)
    parameters = parameters_of(run.parameters)
    submitted = Response.objects.filter(
        question__version=run.version_id, state=Response.State.SUBMITTED
    )
    wanted = submitted if parameters.include_rejected else submitted.filter(rejected=False)
    rows = list(
        wanted.order_by("pk").values_list("pk", "submission__worker_id", "question_id", "text")
    )
    n_rejected = 0 if parameters.include_rejected else submitted.filter(rejected=True).count()
    answered = [row for row in rows if row[3]]
    if not answered:
        reason = "import answers, or wait for some to be submitted."
        if n_rejected:
            reason = f"{n_rejected} were rejected where they were collected."
        raise RunInputError(f"There is no answer to grade: {reason}")
    of_models = _latest_model_answers(run.version_id)
    grades = mean_judgements(run.version) if parameters.anchors else {}
    return RunInput(
        run=run,
        parameters=parameters,
        responses=[row[0] for row in answered],
        workers=[row[1] for row in answered],
        questions=[row[2] for row in answered],
        texts=[row[3] for row in answered],
        everybody=list(dict.fromkeys(row[1] for row in rows)),
        asked=list(dict.fromkeys(row[2] for row in rows)),
        n_empty=len(rows) - len(answered),
        n_rejected=n_rejected,
        llm_responses=[row[0] for row in of_models],
        models=[row[1] for row in of_models],
        model_questions=[row[2] for row in of_models],
        model_texts=[row[3] for row in of_models],
        statuses=[AnswerStatus(row[4]) for row in of_models],
        excluded=excluded_ids(parameters.exclude_workers, [row[1] for row in rows]),
        judged=[(at, grades[row[0]]) for at, row in enumerate(answered) if row[0] in grades],
    )


def parameters_of(stored: dict[str, Any]) -> AqerParameters:
    """Return the parameters of a run; what an older run did not store has its default."""
    known = {entry.name for entry in fields(AqerParameters)}
    unknown = stored.keys() - known
    if unknown:
        raise RunInputError(f"unknown parameters: {', '.join(sorted(unknown))}")
    return AqerParameters(**stored)


def _latest_model_answers(version_id: int) -> list[tuple[int, int, int, str, str]]:
    """Return one answer for each model and question: the first sample of its latest asking."""
    rows = (
        LLMResponse.objects.filter(question__version=version_id, sample=0)
        .order_by("pk")
        .values_list("pk", "model_id", "question_id", "text", "status")
    )
    latest = {(row[1], row[2]): row for row in rows}
    return sorted(latest.values())
