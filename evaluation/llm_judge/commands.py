"""Subcommand ``study judge``, its files, and the output of ``run judge``.

Reads answers, wordings and experts' grades, asks the judge, and computes its agreement. The journal
of the output folder stores every reply; all tables are written together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from annotations.exchange.reading.answer_grades import refuse_unknown_answers
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.questions import read_passages, read_questions
from evaluation.consensus.inputs import GradingInput, select_graded_answers
from evaluation.core.backends import parse_spec
from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.grading.run.fitting import compute_aqer_scores
from evaluation.llm_judge.messages import METRICS
from evaluation.llm_judge.options import COMPARE, HIGHEST, LOWEST, SCORE, JudgeParameters
from evaluation.llm_judge.report import build_report, load_corrected_rows
from evaluation.llm_judge.run import (
    CORRECTED,
    PAIRS,
    CorrectedRow,
    Findings,
    Tables,
    build_scores_header,
    collect_grades,
    judge_answers,
)
from evaluation.models import Run
from evaluation.runs.files.answers import (
    check_has_answers,
    convert_answers,
    convert_model_answers,
    load_precomputed_vectors,
    read_worker_answers,
)
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.metrics import (
    FILES,
    SUMMARY,
    build_study_summary,
    refuse_to_replace_inputs,
    write_metrics,
)
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item, TemplateError
from evaluation.runs.flow.asking.reading import AnswerColumns, PromptWithReminder, Replies
from evaluation.runs.flow.metrics import Exclusions, MetricRow
from evaluation.runs.run_types.kind import Progress, StudyOutcome

TABLES = ("judge_scores.csv", "judge_pairs.csv", "corrected.csv")


@dataclass(frozen=True)
class JudgeRequest:
    """Input files, options, prompts and output folder of ``study judge``.

    Attributes
    ----------
    asking : the judge and the limits of asking.
    questions, passages : wordings and passages of the questions; without them the judge sees ids.
    models : answers of models, judged as well.
    grades : experts' grades.
    score, compare : the prompts.
    """

    answers: Path
    parameters: JudgeParameters
    asking: AskSettings
    output: Path
    questions: Path | None = None
    passages: Path | None = None
    models: Path | None = None
    grades: Path | None = None
    columns: ColumnNames = field(default_factory=ColumnNames)
    score: PromptWithReminder = SCORE
    compare: PromptWithReminder = COMPARE
    duplicates: Duplicates = Duplicates.REFUSE
    keep_html: bool = False
    keep_ids: bool = False


@dataclass(frozen=True)
class FileStudy:
    """Result of judging files: findings, warnings, and whether every request has a reply."""

    findings: Findings
    warnings: list[str]
    complete: bool


@dataclass(frozen=True)
class _Inputs:
    """Records read from the input files: answers, texts to judge, grades and file hashes.

    Attributes
    ----------
    grading : answers as AQER scores them.
    to_judge : workers' answers, then models'.
    judgements : (row of `to_judge`, expert, grade).
    hashes : SHA-256 of each file, by its role.
    """

    grading: GradingInput
    answers: AnswerFile
    models: ModelAnswerFile | None
    to_judge: AnswerColumns
    judgements: list[tuple[int, str, float]]
    hashes: dict[str, str]
    warnings: list[Message | str]


def judge_file(request: JudgeRequest, progress: Progress) -> FileStudy:
    """Judge the answers of the input files with a language model and write the tables.

    Raises
    ------
    InputError
        A file cannot be read or has invalid rows. No request was sent.
    ChatError, BackendError
        The judge or the embedder cannot be loaded.
    EndedEarlyError
        Not everything was asked. The journal keeps all replies; no table is written.
    """
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    inputs = (request.answers, request.questions, request.passages, request.models, request.grades)
    refuse_to_replace_inputs(request.output, (*FILES, *TABLES), (*inputs, vectors))
    loaded = _read_inputs(request)
    embed_texts, vector_hashes = load_precomputed_vectors(
        loaded.grading, loaded.answers, loaded.models
    )
    # Before the first request: an embedder that fails must not cost replies.
    worker_scores, model_scores, embedding = compute_aqer_scores(
        loaded.grading, embed_texts, progress
    )
    with StudyFolder(request.output, request.asking, progress) as folder:

        def ask(name: str, prompt: PromptWithReminder, items: Sequence[Item]) -> Replies:
            return folder.ask_step(Step(name, prompt.template, prompt.again), items)

        replies = judge_answers(
            loaded.to_judge, request.parameters, ask, request.score, request.compare
        )
        findings = Findings(
            folder.system,
            loaded.to_judge,
            replies,
            collect_grades(len(loaded.to_judge), loaded.judgements),
            np.concatenate([worker_scores, model_scores[_find_rows_with_text(loaded.grading)]]),
            request.parameters,
        )
        warnings = TERMINAL.format_all([*loaded.warnings, *embedding.warnings, *findings.warnings])
        info = embedding.info
        summary = build_study_summary(
            "judge",
            request.parameters,
            {**loaded.hashes, **vector_hashes},
            {
                "answers": len(loaded.grading.answered),
                "model_answers": len(loaded.to_judge) - len(loaded.grading.answered),
                "judged_by_experts": int((~np.isnan(findings.grades.mean)).sum()),
                "pairs": len(replies.pairs.left),
                "asked_again": replies.n_again,
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
            more={
                "judge": folder.system,
                "prompts": _describe_prompts(request),
                "steps": folder.summarise_steps(),
            },
        )
        _write_tables(request.output, findings, summary)
        return FileStudy(findings, warnings, folder.complete)


def load_prompt(path: Path | None, default: PromptWithReminder) -> PromptWithReminder:
    """Return a prompt with the template in a file; without a file, the default prompt.

    Raises `InputError` if the template is invalid.
    """
    if path is None:
        return default
    try:
        template = path.read_text(encoding="utf-8-sig").rstrip("\r\n")
        return PromptWithReminder(template, default.again, default.fields)
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError.single(str(path), f"it cannot be read: {cause}", "Check it.") from error
    except TemplateError as error:
        raise InputError.single(str(path), str(error)) from error


def _describe_prompts(request: JudgeRequest) -> dict[str, Any]:
    """Return the template and hash of both prompts, for summary.json."""
    return {
        name: {"hash": prompt.hash, "template": prompt.template, "again": prompt.again}
        for name, prompt in (("score", request.score), ("compare", request.compare))
    }


def _write_tables(output: Path, findings: Findings, summary: Mapping[str, Any]) -> None:
    """Write metrics.csv, the tables of the judge and summary.json; on an error write nothing."""
    tables = Tables(findings)
    with OutputFolder(output) as folder:
        write_metrics(folder, findings.metrics)
        folder.write_csv(TABLES[0], build_scores_header(findings), tables.list_scores())
        folder.write_csv(TABLES[1], PAIRS, tables.list_pairs())
        folder.write_csv(TABLES[2], CORRECTED, tables.list_corrected())
        folder.write_json(SUMMARY, summary)


def _read_inputs(request: JudgeRequest) -> _Inputs:
    """Read the files of answers, questions, passages, models and grades.

    Raises `InputError` if a file is invalid.
    """
    answers = read_worker_answers(
        request.answers,
        request.columns,
        request.duplicates,
        keep_html=request.keep_html,
        keep_ids=request.keep_ids,
    )
    hashes = answers.hashes
    warnings: list[Message | str] = [*answers.warnings]
    models = None
    if request.models is not None:
        models = read_model_answers(
            request.models,
            request.columns,
            request.asking.keep_thinking,
            ids=answers.ids,
        )
        hashes["models"] = models.sha256
        warnings += models.warnings
    model_answers = None if models is None else convert_model_answers(models)
    grading = select_graded_answers(
        request.parameters.grading(), convert_answers(answers), model_answers
    )
    check_has_answers(answers, grading)
    wordings, passages = _read_wordings(request, answers, hashes)
    to_judge = _build_columns(grading, wordings, passages)
    n_without_wording = len({q for q in to_judge.questions if q not in wordings})
    if n_without_wording:
        warnings.append(Message("judge.no_wording", {"count": n_without_wording}))
    judgements: list[tuple[int, str, float]] = []
    if request.grades is not None:
        grades = read_answer_grades(request.grades, request.columns, (LOWEST, HIGHEST))
        grades = replace(grades, records=answers.ids.match(grades.records))
        hashes["judgements"] = grades.sha256
        judgements = _match_grades(grades, to_judge, answers.name)
    return _Inputs(grading, answers, models, to_judge, judgements, hashes, warnings)


def _build_columns(
    grading: GradingInput, wordings: Mapping[str, str], passages: Mapping[str, str]
) -> AnswerColumns:
    """Return the nonempty answers to judge: workers' answers, then models'."""
    answers, models = grading.answered, grading.models and grading.models.with_text()
    return AnswerColumns(
        [*answers.workers, *(models.models if models else ())],
        [True] * len(answers) + [False] * len(models or ()),
        [*answers.questions, *(models.questions if models else ())],
        [*answers.texts, *(models.texts if models else ())],
        wordings,
        passages,
    )


def _find_rows_with_text(grading: GradingInput) -> list[int]:
    """Return the row indices of the models' answers that have a text."""
    if grading.models is None:
        return []
    keys = set(grading.models.with_text().keys)
    return [row for row, key in enumerate(grading.models.keys) if key in keys]


def _read_wordings(
    request: JudgeRequest, answers: AnswerFile, hashes: dict[str, str]
) -> tuple[dict[str, str], ...]:
    """Return question and passage texts by question id; add file hashes to `hashes`.

    Raises `InputError`.
    """
    wordings: dict[str, str] = {}
    passages: dict[str, str] = {}
    if request.questions is None:
        if request.passages is not None:
            raise InputError.single(
                "--passages",
                "the questions name their passages",
                "Name their file with --questions.",
            )
        return wordings, passages
    questions = read_questions(request.questions)
    hashes["questions"] = questions.sha256
    texts: dict[str, str] = {}
    if request.passages is not None:
        file = read_passages(request.passages)
        hashes["passages"] = file.sha256
        texts = {record.passage: record.text for record in file.records}
    for record in answers.ids.match(questions.records):
        wordings[record.question] = record.text
        if record.passage in texts:
            passages[record.question] = texts[record.passage]
    return wordings, passages


def _match_grades(
    grades: GradeFile, to_judge: AnswerColumns, file: str
) -> list[tuple[int, str, float]]:
    """Return (row of answer, expert, grade) of each expert grade in a file.

    Raises `InputError` for a grade of an unknown answer.
    """
    rows = {
        (author if person else "", "" if person else author, question): row
        for row, (author, person, question) in enumerate(
            zip(to_judge.authors, to_judge.people, to_judge.questions, strict=True)
        )
    }
    refuse_unknown_answers(grades, set(rows), file)
    return [(rows[record.answer], record.expert, record.grade) for record in grades.records]


def run_study(
    parameters: JudgeParameters,
    arguments: Mapping[str, Any],
    asking: AskSettings,
    progress: Progress,
) -> StudyOutcome:
    """Judge a file of answers, write the tables, and return the text to print."""
    request = JudgeRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        keep_html=arguments["keep_html"],
        keep_ids=arguments["keep_ids"],
        # The budget of a study is that of its asking.
        parameters=replace(parameters, budget=None),
        asking=asking,
        output=arguments["output"],
        questions=arguments["questions"],
        passages=arguments["passages"],
        models=arguments["models"],
        grades=arguments["judgements"],
        columns=arguments["columns"],
        score=load_prompt(arguments["score_template"], SCORE),
        compare=load_prompt(arguments["compare_template"], COMPARE),
    )
    study = judge_file(request, progress)
    findings = study.findings
    text = format_findings(findings.system, findings.metrics, findings.corrected, study.warnings)
    return StudyOutcome(f"{text}\n\nFiles: {request.output}", study.complete)


# Corrected means in the output; the file has all.
MAX_SHOWN = 40
AGREEMENT = ("agreement", "value", "low", "high", "n", "why empty")
MEANS = ("of", "name", "judge", "experts", "corrected", "low", "high", "judged", "scored")


def format_findings(
    system: str,
    metrics: Iterable[MetricRow],
    corrected: Sequence[CorrectedRow],
    warnings: Iterable[str],
) -> str:
    """Return tables of the judge's agreement and corrected means, and warnings, as text."""
    rows = [
        (
            METRICS.get(row.metric, row.metric) if not row.group else f"{row.group}, kappa",
            *(row.value, row.low, row.high, row.n, row.reason),
        )
        for row in metrics
    ]
    means = [
        (
            *(row.of, row.name, row.judge, row.graded.mean),
            *(row.tuned.mean, row.tuned.low, row.tuned.high, row.n_judged, row.n),
        )
        for row in corrected[:MAX_SHOWN]
    ]
    more = len(corrected) - len(means)
    parts = [
        f"{remove_control_characters(system)} as judge",
        format_table(AGREEMENT, rows),
        format_table(MEANS, means) + (f"\n... and {more} more" if more > 0 else ""),
        "\n".join(f"Warning: {warning}" for warning in warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def format_run(run: Run) -> str:
    """Return the text that ``run judge`` prints about a finished run."""
    report = build_report(run)
    rows = [
        (row.label, row.value, row.low, row.high, row.n, row.why or None)
        for row in report.agreement
    ]
    means = [
        (*(m.of, m.name, m.judge, m.graded), *(m.mean, m.low, m.high, m.n_judged, m.n))
        for m in load_corrected_rows(run)[:MAX_SHOWN]
    ]
    parts = [
        f"{remove_control_characters(report.judge)} as judge",
        "\n".join(report.said),
        format_table(AGREEMENT, rows),
        format_table(MEANS, means),
        "\n".join(f"Warning: {warning}" for warning in TERMINAL.format_all(run.warnings)),
    ]
    return "\n\n".join(part for part in parts if part)
