"""Public data sets of the studies, and their answers assigned to simulated workers.

Read the public data sets of the studies from a folder that the user names. Assign graded answers to
simulated workers: the data set names no authors (6.1, Table 2).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import InputError, Problem

MOHLER = "mohler2011/answers.csv"
MOHLER_QUESTIONS = "mohler2011/questions.csv"
BEETLE = "beetle2013/answers.csv"
BEETLE_QUESTIONS = "beetle2013/questions.csv"
# Labels of the three-way task, then those of the five-way task that it unites as "incorrect".
BEETLE_LABELS = (
    "correct",
    "contradictory",
    "incorrect",
    "partially_correct_incomplete",
    "irrelevant",
    "non_domain",
)
REMEDY = (
    "Give the folder that holds the published mohler2011/, crowdwsa2019/ and beetle2013/ with "
    "--data."
)

DATA_SET_REASONS: Mapping[str, str] = {
    "data_set_unreadable": "the file cannot be read ({error})",
    "data_set_damaged": "the file is damaged ({error})",
    "data_set_columns_missing": "the columns {columns} are missing",
    "data_set_row_short": "line {row} has too few cells",
    "data_set_grade_unreadable": "a grade is no number ({error})",
    "data_set_truth_missing": "sentence {sentence} has no true translation",
    "data_set_order_unreadable": "the order {order!r} is no number",
    "data_set_label_unknown": "the label {label!r} is unknown (known are {known})",
    "data_set_empty": "there are no answers in it",
}
"""Reasons why a file is not the data set, by problem code."""


@dataclass(frozen=True)
class GradedAnswers:
    """Answers with expert grades, without the students' ids (Mohler et al. 2011).

    Attributes
    ----------
    texts : (N,) answers. questions : (N,) ids. grades : (N,) mean expert grade, 0 to 5.
    """

    texts: list[str]
    questions: NDArray[np.str_]
    grades: NDArray[np.float64]


@dataclass(frozen=True)
class Translations:
    """Sentences translated by crowd workers, with true translations (Li and Fukumoto 2019).

    Attributes
    ----------
    workers, sentences, texts : (N,) the first answer of each worker to each sentence.
    truth : true translation of each sentence.
    """

    workers: NDArray[np.str_]
    sentences: NDArray[np.str_]
    texts: list[str]
    truth: dict[str, str]


@dataclass(frozen=True)
class StudentAnswers:
    """Labelled answers of identified students to questions on electricity (Dzikovska et al. 2013).

    Attributes
    ----------
    workers, questions, texts : (N,) the first attempt of each student at each question.
    labels : (N,) the tutors' label of each answer, one of `BEETLE_LABELS`.
    """

    workers: NDArray[np.str_]
    questions: NDArray[np.str_]
    texts: list[str]
    labels: NDArray[np.str_]


def load_mohler(folder: Path) -> GradedAnswers:
    """Read mohler2011/answers.csv as graded answers; <br> becomes a space."""
    rows = list(_read_rows(folder, MOHLER, ("question_id", "answer", "grade_average")))
    try:
        grades = np.array([float(row[2]) for row in rows])
    except ValueError as error:
        raise _build_data_set_error(
            folder / MOHLER, "data_set_grade_unreadable", error=error
        ) from error
    return GradedAnswers(
        texts=[row[1].replace("<br>", " ") for row in rows],
        questions=np.array([row[0] for row in rows]),
        grades=grades,
    )


def load_mohler_questions(folder: Path) -> dict[str, tuple[str, str]]:
    """Return each question's text and reference answer by id; empty without questions.csv."""
    if not (folder / MOHLER_QUESTIONS).exists():
        return {}
    rows = _read_rows(folder, MOHLER_QUESTIONS, ("question_id", "question", "reference_answer"))
    return {
        name: (question.replace("<br>", " "), reference.replace("<br>", " "))
        for name, question, reference in rows
    }


def load_crowdwsa(folder: Path, name: str) -> Translations:
    """Read crowdwsa2019 "T1" or "T2" with each worker's first answer to a sentence."""
    labels, truths = list_crowdwsa_files(name)
    first: dict[tuple[str, str], str] = {}
    for worker, sentence, text in _read_rows(
        folder, labels, ("worker", "sentence", "workeranswer")
    ):
        first.setdefault((worker, sentence), text)
    truth = dict(_read_rows(folder, truths, ("sentence", "trueanswer")))
    unknown = {sentence for _, sentence in first} - set(truth)
    if unknown:
        raise _build_data_set_error(
            folder / truths, "data_set_truth_missing", sentence=min(unknown)
        )
    return Translations(
        workers=np.array([worker for worker, _ in first]),
        sentences=np.array([sentence for _, sentence in first]),
        texts=list(first.values()),
        truth=truth,
    )


def load_beetle(folder: Path) -> StudentAnswers:
    """Read beetle2013/answers.csv with each student's first attempt at a question.

    Without a column `label`, all labels are "".
    """
    first: dict[tuple[str, str], tuple[int, str, str]] = {}
    for worker, question, order, text, label in _read_rows(
        folder, BEETLE, ("worker", "question", "order", "answer"), ("label",)
    ):
        if not order.isdecimal():
            raise _build_data_set_error(folder / BEETLE, "data_set_order_unreadable", order=order)
        earlier = first.get((worker, question))
        if earlier is None or int(order) < earlier[0]:
            first[worker, question] = (int(order), text, label)
    return StudentAnswers(
        workers=np.array([worker for worker, _ in first]),
        questions=np.array([question for _, question in first]),
        texts=[text for _, text, _ in first.values()],
        labels=np.array([label for _, _, label in first.values()]),
    )


def load_labelled_beetle(folder: Path) -> StudentAnswers:
    """Read beetle2013/answers.csv with labels; InputError for unknown labels or no answers."""
    beetle = load_beetle(folder)
    unknown = sorted(set(beetle.labels.tolist()) - set(BEETLE_LABELS))
    if unknown:
        labels = {"label": unknown[0], "known": ", ".join(BEETLE_LABELS)}
        raise _build_data_set_error(folder / BEETLE, "data_set_label_unknown", **labels)
    if not beetle.texts:
        raise _build_data_set_error(folder / BEETLE, "data_set_empty")
    return beetle


def load_beetle_questions(folder: Path) -> dict[str, str]:
    """Read the question texts of beetle2013/questions.csv by id; empty without the file."""
    if not (folder / BEETLE_QUESTIONS).exists():
        return {}
    return dict(_read_rows(folder, BEETLE_QUESTIONS, ("question", "text")))


def load_beetle_references(folder: Path, students: StudentAnswers) -> dict[str, str]:
    """Return the reference answer of each question, in the order of the answers.

    From the column `reference` of beetle2013/questions.csv; empty unless it has one for each.
    """
    if not (folder / BEETLE_QUESTIONS).exists():
        return {}
    rows = _read_rows(folder, BEETLE_QUESTIONS, ("question",), ("reference",))
    known = {question: reference for question, reference in rows if reference}
    asked = dict.fromkeys(students.questions.tolist())
    return {name: known[name] for name in asked} if asked.keys() <= known.keys() else {}


def list_crowdwsa_files(name: str) -> tuple[str, str]:
    """Return the relative paths of a CrowdWSA data set's answers and its true translations."""
    return f"crowdwsa2019/{name}_label_anonymous.tsv", f"crowdwsa2019/{name}_gt.tsv"


def _build_data_set_error(path: Path, code: str, **values: object) -> InputError:
    """Return the InputError for a problem code of an unusable data set file."""
    reason = DATA_SET_REASONS[code].format_map(values)
    return InputError([Problem(str(path), None, None, reason, REMEDY, code=code, values=values)])


def _read_rows(
    folder: Path, name: str, columns: Sequence[str], more: Sequence[str] = ()
) -> Iterator[list[str]]:
    """Yield the cells of `columns` and `more` in each row of a file; "" for a missing `more`."""
    path = folder / name
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if path.suffix == ".tsv":  # these hold bare quotes, so they are not read as CSV
                lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            else:
                lines = csv.reader(file)
            header = next(lines, [])
            missing = [column for column in columns if column not in header]
            if missing:
                raise _build_data_set_error(
                    path, "data_set_columns_missing", columns=", ".join(missing)
                )
            columns_at = [header.index(column) for column in columns]
            optional_at = [header.index(column) if column in header else None for column in more]
            last = max([*columns_at, *(place for place in optional_at if place is not None)])
            for row in lines:
                if len(row) <= last:
                    raise _build_data_set_error(path, "data_set_row_short", row=lines.line_num)
                yield [
                    *(row[place] for place in columns_at),
                    *("" if place is None else row[place] for place in optional_at),
                ]
    except OSError as error:
        raise _build_data_set_error(path, "data_set_unreadable", error=error.strerror) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise _build_data_set_error(path, "data_set_damaged", error=error) from error


CROWD = 20


@dataclass(frozen=True)
class AnswerAssignment:
    """Assignment of corpus answers (row numbers) to simulated workers (codes)."""

    rows: NDArray[np.int64]
    workers: NDArray[np.int64]

    def compute_true_grades(self, grades: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each simulated worker's mean expert grade over its answers."""
        return np.bincount(self.workers, weights=grades[self.rows]) / np.bincount(self.workers)


def assign_answers(
    corpus: GradedAnswers,
    tier: int,
    seed: int,
    noise: float = 0.0,
    crowd: int = CROWD,
    *,
    best: bool = True,
) -> AnswerAssignment:
    """Assign each question's best answers to `crowd` simulated workers, in tiers of `tier`.

    Each worker gets one answer per question: the `tier` best answers are shuffled among the first
    `tier` workers, the next ones among the next. Questions with fewer answers than workers are left
    out.

    `noise` is the standard deviation of the normal noise added to the grades for the assignment.
    Without `best` the answers are drawn at random before they are ranked.
    """
    rng = np.random.default_rng(seed)
    grades = corpus.grades
    if noise:
        grades = grades + rng.normal(0.0, noise, len(grades))
    rows, workers = [], []
    for question in dict.fromkeys(corpus.questions.tolist()):
        answers = np.flatnonzero(corpus.questions == question)
        if not best:
            answers = rng.permutation(answers)[:crowd]
        # Ties at random, as in the paper's Table 2.
        ties = rng.random(len(answers))
        ranked = answers[np.lexsort((ties, -grades[answers]))][:crowd]
        if len(ranked) < crowd:
            continue
        for first in range(0, crowd, tier):
            rows.append(rng.permutation(ranked[first : first + tier]))
            workers.append(np.arange(first, first + tier))
    return AnswerAssignment(np.concatenate(rows), np.concatenate(workers))
