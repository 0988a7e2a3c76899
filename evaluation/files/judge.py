"""Judge a file of answers: what ``manage.py study judge`` does around the flow.

Read answers, wordings and experts' grades; ask, by the journal of the folder; measure the judge;
write all tables together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from annotations.exchange import (
    AnswerFile,
    ColumnNames,
    GradeFile,
    InputError,
    ModelAnswerFile,
    OutputFolder,
    read_answer_grades,
    read_model_answers,
)
from annotations.exchange.reading.answer_grades import unknown_answers
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.questions import read_passages, read_questions
from evaluation.backends import parse_spec
from evaluation.files.asking import Asking
from evaluation.files.grading import (
    answers_of,
    model_answers_of,
    read_people,
    refuse_nothing,
    vectors_from,
)
from evaluation.files.metrics import FILES, SUMMARY, refuse_to_replace, study_summary, write_metrics
from evaluation.files.study import Step, StudyFolder
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.prompts import TemplateError
from evaluation.flow.inputs import GradingInput, choose
from evaluation.flow.judge.findings import Findings, grades_of
from evaluation.flow.judge.judging import Replies, ToJudge, judge_answers
from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.flow.judge.prompts import COMPARE, HIGHEST, LOWEST, SCORE, JudgePrompt
from evaluation.flow.judge.reference import aqer_scores
from evaluation.flow.judge.tables import CORRECTED, PAIRS, Tables, scores_header
from evaluation.flow.metrics import Exclusions
from evaluation.options import TERMINAL
from evaluation.words.message import Message

Progress = Any
TABLES = ("judge_scores.csv", "judge_pairs.csv", "corrected.csv")


@dataclass(frozen=True)
class JudgeRequest:
    """What to have judged, by whom, and where the files go.

    Attributes
    ----------
    questions, passages : wordings and texts of the questions, None where ids are the wording.
    models : models' answers that are judged, too. grades : experts' grades.
    score, compare : the prompts.
    """

    answers: Path
    parameters: JudgeParameters
    asking: Asking
    output: Path
    questions: Path | None = None
    passages: Path | None = None
    models: Path | None = None
    grades: Path | None = None
    columns: ColumnNames = field(default_factory=ColumnNames)
    score: JudgePrompt = SCORE
    compare: JudgePrompt = COMPARE
    duplicates: Duplicates = Duplicates.REFUSE


@dataclass(frozen=True)
class JudgedFile:
    """What came of it. `complete`: whether every request got its reply."""

    findings: Findings
    warnings: list[str]
    complete: bool


@dataclass(frozen=True)
class _Read:
    """The files, read."""

    given: GradingInput
    answers: AnswerFile
    models: ModelAnswerFile | None
    to_judge: ToJudge
    graded: list[tuple[int, str, float]]
    hashes: dict[str, str]
    warnings: list[Message | str]


def judge_file(request: JudgeRequest, progress: Progress) -> JudgedFile:
    """Judge and write.

    Raises
    ------
    InputError
        A file, or what it holds, cannot be used; nothing was asked.
    ChatError, BackendError
        The judge, or the embedder, cannot be had.
    EndedEarlyError
        Not all was asked; what came is kept, no table is written.
    """
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    inputs = (request.answers, request.questions, request.passages, request.models, request.grades)
    refuse_to_replace(request.output, (*FILES, *TABLES), (*inputs, vectors))
    read = _read(request)
    embed_texts, of_vectors = vectors_from(read.given, read.answers, read.models)
    of_workers, of_models, embedded = aqer_scores(read.given, embed_texts, progress)
    with StudyFolder(request.output, request.asking, progress) as folder:

        def ask(name: str, prompt: JudgePrompt, items: Sequence[Item]) -> Replies:
            return folder.ask(Step(name, prompt.template, prompt.again), items)

        judged = judge_answers(
            read.to_judge, request.parameters, ask, request.score, request.compare
        )
        findings = Findings(
            folder.system,
            read.to_judge,
            judged,
            grades_of(len(read.to_judge), read.graded),
            np.concatenate([of_workers, of_models[_with_text(read.given)]]),
            request.parameters,
        )
        warnings = TERMINAL.all_said([*read.warnings, *embedded.warnings, *findings.warnings])
        info = embedded.info
        summary = study_summary(
            "judge",
            request.parameters,
            {**read.hashes, **of_vectors},
            {
                "answers": len(read.given.answered),
                "model_answers": len(read.to_judge) - len(read.given.answered),
                "judged_by_experts": int((~np.isnan(findings.grades.mean)).sum()),
                "pairs": len(judged.compared.one),
                "asked_again": judged.n_again,
                "without_score": findings.n_unread,
            },
            Exclusions(),
            made={
                "judge": folder.system,
                "prompts": f"{request.score.hash[:12]}+{request.compare.hash[:12]}",
                "embedder": info.model,
                "revision": info.revision,
            },
            warnings=warnings,
            more={"judge": folder.system, "prompts": _prompts(request), "steps": folder.steps()},
        )
        _write(request.output, findings, summary)
        return JudgedFile(findings, warnings, folder.complete)


def prompt_from(path: Path | None, own: JudgePrompt) -> JudgePrompt:
    """Return the prompt whose template is in a file, or our own. Raises `InputError`."""
    if path is None:
        return own
    try:
        template = path.read_text(encoding="utf-8-sig").rstrip("\r\n")
        return JudgePrompt(template, own.again, own.fields)
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError.single(str(path), f"it cannot be read: {cause}", "Check it.") from error
    except TemplateError as error:
        raise InputError.single(str(path), str(error)) from error


def _prompts(request: JudgeRequest) -> dict[str, Any]:
    return {
        name: {"hash": prompt.hash, "template": prompt.template, "again": prompt.again}
        for name, prompt in (("score", request.score), ("compare", request.compare))
    }


def _write(output: Path, findings: Findings, summary: Mapping[str, Any]) -> None:
    tables = Tables(findings)
    with OutputFolder(output) as folder:
        write_metrics(folder, findings.metrics)
        folder.write_csv(TABLES[0], scores_header(findings), tables.scores())
        folder.write_csv(TABLES[1], PAIRS, tables.pairs())
        folder.write_csv(TABLES[2], CORRECTED, tables.corrected())
        folder.write_json(SUMMARY, summary)


def _read(request: JudgeRequest) -> _Read:
    answers = read_people(request.answers, request.columns, request.duplicates)
    hashes = answers.hashes
    warnings: list[Message | str] = [*answers.warnings]
    models = None
    if request.models is not None:
        models = read_model_answers(request.models, request.columns, request.asking.keep_thinking)
        hashes["models"] = models.sha256
        warnings += models.warnings
    spoken = None if models is None else model_answers_of(models)
    given = choose(request.parameters.grading(), answers_of(answers), spoken)
    refuse_nothing(answers, given)
    wordings, passages = _wordings(request, hashes)
    to_judge = _to_judge(given, wordings, passages)
    unworded = len({q for q in to_judge.questions if q not in wordings})
    if unworded:
        warnings.append(Message("judge.no_wording", {"count": unworded}))
    graded: list[tuple[int, str, float]] = []
    if request.grades is not None:
        grades = read_answer_grades(request.grades, request.columns, (LOWEST, HIGHEST))
        hashes["judgements"] = grades.sha256
        graded = _graded(grades, to_judge, answers.name)
    return _Read(given, answers, models, to_judge, graded, hashes, warnings)


def _to_judge(
    given: GradingInput, wordings: Mapping[str, str], passages: Mapping[str, str]
) -> ToJudge:
    answered, spoken = given.answered, given.models and given.models.with_text()
    return ToJudge(
        [*answered.workers, *(spoken.models if spoken else ())],
        [True] * len(answered) + [False] * len(spoken or ()),
        [*answered.questions, *(spoken.questions if spoken else ())],
        [*answered.texts, *(spoken.texts if spoken else ())],
        wordings,
        passages,
    )


def _with_text(given: GradingInput) -> list[int]:
    """Return the rows of the models' answers that have a text."""
    if given.models is None:
        return []
    kept = set(given.models.with_text().keys)
    return [row for row, key in enumerate(given.models.keys) if key in kept]


def _wordings(request: JudgeRequest, hashes: dict[str, str]) -> tuple[dict[str, str], ...]:
    """Return wording and passage of the questions, by their ids; note the files' hashes."""
    wordings: dict[str, str] = {}
    passages: dict[str, str] = {}
    if request.questions is None:
        if request.passages is not None:
            raise InputError.single(
                "--passages",
                "which question has which passage is told by the questions",
                "Name their file with --questions.",
            )
        return wordings, passages
    questions = read_questions(request.questions)
    hashes["questions"] = questions.sha256
    texts: dict[str, str] = {}
    if request.passages is not None:
        read = read_passages(request.passages)
        hashes["passages"] = read.sha256
        texts = {one.passage: one.text for one in read.records}
    for one in questions.records:
        wordings[one.question] = one.text
        if one.passage in texts:
            passages[one.question] = texts[one.passage]
    return wordings, passages


def _graded(grades: GradeFile, to_judge: ToJudge, file: str) -> list[tuple[int, str, float]]:
    """Return row, expert and grade of each judgement. Raises `InputError` for unknown answers."""
    row_of = {
        (author if person else "", "" if person else author, question): row
        for row, (author, person, question) in enumerate(
            zip(to_judge.authors, to_judge.people, to_judge.questions, strict=True)
        )
    }
    unknown_answers(grades, set(row_of), file)
    return [(row_of[one.answer], one.expert, one.grade) for one in grades.records]
