"""Command ``manage.py evaluate experts``: read a file of experts' grades, write the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotations.exchange import ColumnNames, InputError, OutputFolder, read_answer_grades
from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answer_grades import GradeFile, refuse_unknown_answers
from annotations.exchange.reading.tables import open_table
from annotations.exchange.whole_ids import KnownIdReader
from evaluation.core.messages.console import format_table
from evaluation.experts.messages import LEVELS
from evaluation.experts.run import (
    AGREEMENT,
    DIFFICULTY,
    ESTIMATES,
    ExpertFindings,
    ExpertsParameters,
    GradedAnswer,
    ScoredAnswer,
    compute_expert_findings,
    iterate_agreement_rows,
    iterate_difficulty_rows,
    iterate_estimate_rows,
)
from evaluation.runs.files.metrics import SUMMARY, build_study_summary, refuse_to_replace_inputs
from evaluation.runs.flow.metrics import Exclusions
from evaluation.runs.run_types.kind import Progress

TABLES = ("agreement.csv", "difficulty.csv", "estimates.csv")

# What `evaluate aqer` writes: the file, whose answers, and the column of the score.
SCORES = (
    ("answers.csv", "worker", "score_leave_one_out"),
    ("model_answers.csv", "model", "score"),
)
HIGHEST = 5.0


@dataclass(frozen=True)
class ExpertsRequest:
    """Paths and options of one evaluation of experts' grades from files.

    Attributes
    ----------
    scores : folder that `evaluate aqer` wrote; None for none. chosen : whether the graded answers
        were chosen, and not drawn at random.
    """

    judgements: Path
    scores: Path | None
    columns: ColumnNames
    parameters: ExpertsParameters
    output: Path
    chosen: bool = False


def evaluate_experts(request: ExpertsRequest) -> ExpertFindings:
    """Evaluate experts' grades in files, write the tables, and return the findings."""
    paths = [request.scores / name for name, *_ in SCORES] if request.scores else []
    refuse_to_replace_inputs(request.output, (*TABLES, SUMMARY), (request.judgements, *paths))
    grades = read_answer_grades(request.judgements, request.columns, (0.0, HIGHEST), weighted=True)
    hashes = {"judgements": grades.sha256}
    answers = list(_iterate_scored_answers(request.scores, hashes)) if request.scores else []
    if answers and request.scores:
        known = {_build_answer_key(answer) for answer in answers}
        ids = KnownIdReader(((answer.author, answer.question) for answer in answers), keeps=False)
        grades = replace(grades, records=ids.match_record_ids(grades.records))
        refuse_unknown_answers(grades, known, str(request.scores))
    findings = compute_expert_findings(
        _group_grades(grades, answers), answers, request.parameters, random=not request.chosen
    )
    with OutputFolder(request.output) as folder:
        folder.write_csv(TABLES[0], AGREEMENT, iterate_agreement_rows(findings))
        folder.write_csv(TABLES[1], DIFFICULTY, iterate_difficulty_rows(findings))
        folder.write_csv(TABLES[2], ESTIMATES, iterate_estimate_rows(findings))
        folder.write_json(SUMMARY, _build_summary(request, findings, hashes))
    return findings


def _group_grades(grades: GradeFile, answers: list[ScoredAnswer]) -> list[GradedAnswer]:
    """Return the graded answers in file order; several settling grades of one are averaged."""
    answer_of = {_build_answer_key(answer): answer for answer in answers}
    own: dict[tuple[str, str, str], dict[str, float]] = {}
    settled: dict[tuple[str, str, str], list[float]] = {}
    weight_of = {record.answer: record.weight for record in grades.records}
    for record in grades.records:
        mine = own.setdefault(record.answer, {})
        if record.settles:
            settled.setdefault(record.answer, []).append(record.grade)
        else:
            mine[record.expert] = record.grade
    result = []
    for key, own_grades in own.items():
        worker, model, question = key
        answer = answer_of.get(key) or ScoredAnswer(worker or model, not worker, question)
        by_third = settled.get(key)
        settled_by = sum(by_third) / len(by_third) if by_third else None
        result.append(GradedAnswer(answer, own_grades, settled_by, weight_of[key]))
    return result


def _build_answer_key(answer: ScoredAnswer) -> tuple[str, str, str]:
    """Return an answer's key (worker, model, question); worker or model is ""."""
    return (
        ("", answer.author, answer.question)
        if answer.of_model
        else (answer.author, "", answer.question)
    )


def _iterate_scored_answers(folder: Path, hashes: dict[str, str]) -> Iterator[ScoredAnswer]:
    """Yield the answers of a folder with their scores; raise `InputError` for invalid files."""
    if not (folder / SCORES[0][0]).exists():
        raise InputError.single(
            str(folder),
            f"there is no {SCORES[0][0]} in it",
            "Give the --output of evaluate aqer.",
        )
    for name, author, score in SCORES:
        path = folder / name
        if not path.exists():
            continue
        problems = Problems(name)
        columns = [Column(one, (one,), renamed_by="") for one in (author, "question", score)]
        table = open_table(path, columns, problems)
        for line, cells, _ in table.rows:
            by, question = clean_id(cells[0]), clean_id(cells[1])
            for column, found in ((author, by), ("question", question)):
                if not found:
                    problems.add_code(line, column, "id_missing", name=column)
            number = _parse_score(problems, line, score, cells[2])
            yield ScoredAnswer(by, author == "model", question, number)
        problems.raise_if_any()
        hashes[name] = table.sha256


def _parse_score(problems: Problems, line: int, column: str, cell: str) -> float | None:
    """Return the score in a cell; None for an empty or invalid one, and report the latter."""
    if not cell.strip():
        return None
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    # One NaN would make every correlation NaN, without a word.
    if not math.isfinite(number):
        problems.add(line, column, f"{cell[:40]} is no number", "Write evaluate aqer’s file anew.")
        return None
    return number


def _build_summary(
    request: ExpertsRequest, findings: ExpertFindings, hashes: dict[str, str]
) -> dict[str, Any]:
    """Return the contents of summary.json: options, input hashes, counts and level."""
    panel = findings.panel
    counts = {
        "experts": len(findings.experts),
        "answers": findings.n_graded,
        "by_two": panel.n_by_two,
        "by_all": panel.n_complete,
        "missing": panel.n_missing,
        "settled": findings.n_settled,
        "questions": len(findings.difficulty),
        "estimates": len(findings.means),
    }
    more = {
        "level": findings.level,
        "experts": findings.experts,
        "without_means": findings.without_means,
    }
    return build_study_summary(
        "experts", request.parameters, hashes, counts, Exclusions(), more=more
    )


HEADER = ("coefficient", "value", "low", "high", "answers", "questions")

MEANS = ("kind", "who", "mean", "low", "high", "graded alone", "n", "of")

MAX_SHOWN = 20


def run_evaluate(
    parameters: ExpertsParameters, arguments: Mapping[str, Any], _progress: Progress
) -> str:
    """Evaluate the experts' grades, write the tables, and return a summary for the terminal."""
    request = ExpertsRequest(
        judgements=arguments["judgements"],
        scores=arguments["scores"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
        chosen=arguments["chosen"],
    )
    return f"{format_findings(evaluate_experts(request))}\n\nFiles: {request.output}"


def format_findings(findings: ExpertFindings) -> str:
    """Return the findings as text: counts, agreement with its meaning, and the first means."""
    panel = findings.panel
    parts = [
        f"{findings.n_graded} answers graded by {len(findings.experts)} experts, "
        f"{panel.n_by_two} by two "
        f"or more, {findings.n_settled} settled by another one; {panel.n_missing} grades missing "
        "of "
        f"{panel.n * panel.n_raters}",
        format_table(HEADER, [row[:6] for row in iterate_agreement_rows(findings)]),
        LEVELS[findings.level],
    ]
    if findings.means:
        rows = [
            (
                mean.kind,
                mean.name,
                mean.mean,
                mean.low,
                mean.high,
                mean.graded,
                mean.n,
                mean.n_answers,
            )
            for mean in findings.means[:MAX_SHOWN]
        ]
        parts.append(format_table(MEANS, rows))
    return "\n\n".join(parts)
