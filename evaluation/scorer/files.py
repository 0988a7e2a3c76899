"""Read the contents of an exported scorer from the folder that ``evaluate aqer`` writes."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from annotations.exchange import ColumnNames
from annotations.exchange.ids import extract_wording
from annotations.exchange.reading.answers import DEFAULT_COLUMNS
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.questions import read_passages, read_questions
from evaluation.consensus.inputs import select_graded_answers
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.facts.texts.names import WordCounts
from evaluation.runs.files.answers import convert_answers, read_worker_answers
from evaluation.scorer.run import (
    NotExportableError,
    Origin,
    ScoredQuestion,
    ScorerContent,
    ScorerOptions,
    build_question_facts,
    refuse_answers_without_consent,
    refuse_unexportable_parameters,
    select_exportable_questions,
)
from evaluation.scorer.runtime.facts import QuestionFacts

SUPPORTED = "ok"


@dataclass(frozen=True)
class ScorerFiles:
    """Paths and options of an export: the folder of a graded file's results, and further files.

    Attributes
    ----------
    folder : folder that ``evaluate aqer`` wrote. answers : the graded file, for facts.
    questions, passages : files of the questions' and passages' texts.
    title, licence, languages : values for the dataset card.
    """

    folder: Path
    answers: Path | None = None
    questions: Path | None = None
    passages: Path | None = None
    columns: ColumnNames = DEFAULT_COLUMNS
    title: str = ""
    licence: str = ""
    languages: tuple[str, ...] = ()


def load_folder_content(given: ScorerFiles, options: ScorerOptions) -> ScorerContent:
    """Return the contents of an exported scorer from the folder of a graded file.

    Raises `NotExportableError`, and `InputError` for a file of answers or questions that cannot be
    read.
    """
    try:
        summary = json.loads((given.folder / "summary.json").read_text("utf-8"))
        parameters = _read_grading_parameters(summary["parameters"])
        refuse_unexportable_parameters(parameters)
        refuse_answers_without_consent(options)
        workers = list(_iterate_csv_rows(given.folder / "workers.csv"))
        scores, lowest = _read_scores(given.folder, workers, parameters.exclude_workers)
        exemplars = list(_iterate_csv_rows(given.folder / "exemplars.csv"))
        with np.load(given.folder / "exemplars.npz", allow_pickle=False) as arrays:
            vectors = dict(zip(arrays["questions"].tolist(), arrays["vectors"], strict=True))
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        if isinstance(error, NotExportableError):
            raise
        raise NotExportableError(
            "no_grading_folder", folder=given.folder, cause=str(error)
        ) from error
    texts, passages, about = _read_questions(given)
    facts, words, facts_reason = _read_facts(given, summary, parameters, workers, texts)
    questions = [
        ScoredQuestion(
            question=row["question"],
            text=texts.get(row["question"], "") or extract_wording(row["question"]),
            passage=passages.get(row["question"], ""),
            category=about.get(row["question"], ("", ""))[0],
            language=about.get(row["question"], ("", ""))[1],
            n_answers=int(row["n_answers"]),
            dispersion=_read_number(row["dispersion"]),
            vector=vectors[row["question"]],
            worker_scores=sorted(scores.get(row["question"], [])),
            lowest=min(0.0, lowest.get(row["question"], 0.0)),
            facts=facts.get(row["question"]),
            consensus=row["nearest_answer"] if options.with_answers else "",
        )
        for row in exemplars
        if row["question"] in vectors
    ]
    kept, left_out = select_exportable_questions(questions, options)
    ranked = _find_ranked_workers(workers, parameters.exclude_workers)
    raw = (_read_number(row["raw_leave_one_out"]) for row in workers if row["worker"] in ranked)
    counts = summary["counts"]
    n_html = counts.get("html_removed", 0)
    return ScorerContent(
        options,
        Origin(
            title=given.title or options.name,
            licence=given.licence,
            languages=given.languages,
            signature=summary["signature"],
            input_hash=summary["input_hash"],
            n_workers=counts["workers"],
            n_answers=counts["answers"],
            html="kept" if summary["parameters"].get("keep_html") else "removed" if n_html else "",
            n_html=n_html,
        ),
        {"languages": None, "binary": False, **summary["embedding"]},
        kept,
        sorted(score for score in raw if score is not None),
        words,
        left_out,
        facts_reason,
    )


def _read_grading_parameters(stored: Mapping[str, Any]) -> AqerParameters:
    """Return the options of the grading from the values in summary.json."""
    known = {field.name for field in fields(AqerParameters)}
    return AqerParameters.from_dict({name: one for name, one in stored.items() if name in known})


def _iterate_csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV result table, as cells by column name."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _read_number(cell: str) -> float | None:
    """Return the number in a cell; None if it is empty."""
    return float(cell) if cell else None


def _find_ranked_workers(
    workers: Sequence[Mapping[str, str]], excluded: Collection[str]
) -> set[str]:
    """Return the workers who vote and have enough answers to be ranked."""
    return {row["worker"] for row in workers if row["support"] == SUPPORTED} - set(excluded)


def _read_scores(
    folder: Path, workers: Sequence[Mapping[str, str]], excluded: Collection[str]
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the ranked workers' leave-one-out scores and the lowest score, each by question."""
    ranked = _find_ranked_workers(workers, excluded)
    scores: dict[str, list[float]] = {}
    lowest: dict[str, float] = {}
    for row in _iterate_csv_rows(folder / "answers.csv"):
        question, score = row["question"], _read_number(row["score"])
        left_out = _read_number(row["score_leave_one_out"])
        if score is not None and row["worker"] not in excluded:
            lowest[question] = min(score, lowest.get(question, score))
        if left_out is not None and row["worker"] in ranked:
            scores.setdefault(question, []).append(left_out)
    return scores, lowest


def _read_questions(
    given: ScorerFiles,
) -> tuple[dict[str, str], dict[str, str], dict[str, tuple[str, str]]]:
    """Return the texts, passages, and (category, language) of questions; empty without a file."""
    if given.questions is None:
        return {}, {}, {}
    records = read_questions(given.questions).records
    known: dict[str, str] = {}
    if given.passages is not None:
        known = {record.passage: record.text for record in read_passages(given.passages).records}
    return (
        {record.question: record.text for record in records if record.text},
        {record.question: known[record.passage] for record in records if record.passage in known},
        {record.question: (record.category, record.language) for record in records},
    )


def _read_facts(
    given: ScorerFiles,
    summary: Mapping[str, Any],
    parameters: AqerParameters,
    workers: list[dict[str, str]],
    texts: Mapping[str, str],
) -> tuple[Mapping[str, QuestionFacts], WordCounts, str]:
    """Return (facts by question, word counts, reason code for no facts or "")."""
    if summary["facts"] is None:
        return {}, WordCounts(), "not_asked_for"
    if summary["facts"].get("read_by"):
        return {}, WordCounts(), "read_by_model"
    if given.answers is None:
        return {}, WordCounts(), "no_answers_file"
    options = summary["parameters"]
    rule = Duplicates(options.get("duplicates", Duplicates.REFUSE))
    choices = {name: options.get(name, False) for name in ("keep_html", "keep_ids")}
    file = read_worker_answers(given.answers, given.columns, rule, **choices)
    if file.sha256 != summary["input_hashes"]["answers"]:
        raise NotExportableError("answers_differ", file=given.answers.name)
    if file.n_html_removed and not summary["counts"].get("html_removed"):
        # Earlier gradings kept HTML: facts of other texts than the graded ones would be read.
        return {}, WordCounts(), "html_unknown"
    inputs = select_graded_answers(parameters, convert_answers(file), None)
    wordings = {
        question: texts.get(question) or extract_wording(question)
        for question in dict.fromkeys(inputs.answered.questions)
    }
    votes = {row["worker"]: _read_number(row["weight"]) or 0.0 for row in workers}
    facts, words = build_question_facts(
        {question: text for question, text in wordings.items() if text},
        inputs.answered,
        votes if any(votes.values()) else None,
        frozenset(parameters.exclude_workers),
    )
    return facts, words, ""
