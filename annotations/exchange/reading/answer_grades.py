"""Read files of expert grades of workers' or models' answers, by one or more experts."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

from annotations.exchange.header import Column, ColumnNames
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import InputError, Problem, Problems
from annotations.exchange.reading.answers import DEFAULT_COLUMNS
from annotations.exchange.reading.outside_information import parse_grade
from annotations.exchange.reading.tables import OpenTable, open_table

EXPERT = "expert"
WEIGHT = "weight"


@dataclass(frozen=True, slots=True)
class AnswerGrade:
    """One expert's grade of one answer by a worker or a model.

    `worker` is "" for a model's answer, `model` "" for a worker's. `settles`: this grade replaces
    the grades of other experts, who disagree. `weight`: how many answers of all this answer
    represents, above 0.
    """

    line: int
    worker: str
    model: str
    question: str
    expert: str
    grade: float
    settles: bool = False
    weight: float = 1.0

    @property
    def answer(self) -> tuple[str, str, str]:
        """Key of the graded answer: (worker, model, question)."""
        return self.worker, self.model, self.question


@dataclass(frozen=True, slots=True)
class GradeFile:
    """Expert grades in the order of the file, at most one per expert and answer."""

    name: str
    sha256: str
    records: list[AnswerGrade]

    def compute_mean_grades(self) -> dict[tuple[str, str, str], float]:
        """Return the mean expert grade of each answer, by (worker, model, question).

        A grade that `settles` an answer replaces the grades of the other experts.
        """
        grades_by_answer: dict[tuple[str, str, str], list[float]] = {}
        settled_answers = {record.answer for record in self.records if record.settles}
        for record in self.records:
            if record.settles or record.answer not in settled_answers:
                grades_by_answer.setdefault(record.answer, []).append(record.grade)
        return {answer: sum(grades) / len(grades) for answer, grades in grades_by_answer.items()}


def read_answer_grades(
    path: str | os.PathLike[str],
    columns: ColumnNames = DEFAULT_COLUMNS,
    scale: tuple[float, float] | None = None,
    *,
    weighted: bool = False,
) -> GradeFile:
    """Read expert grades: columns question, grade, worker or model, and optionally expert.

    Without a column `expert` (or `judge`) all grades are of one expert; a 1 in a column `settles`
    is a grade that counts in place of the others of its answer. `scale`: ends of the grades, if
    they have to keep to them. `weighted`: a column `weight` is read, 1 where a cell is empty.
    Raises `InputError` with every bad row found: a missing question or grade, both worker and model
    or neither, a grade that is no number or beyond the scale, an answer graded twice by one expert,
    a weight that is no number above 0 or another one than before for the same answer; or with one
    problem, if the file as a whole will not do.
    """
    path = Path(path)
    problems = Problems(path.name)
    wanted: tuple[Column, ...] = (
        _build_id_column("worker", columns.worker, required=False),
        _build_id_column("model", columns.model, required=False),
        _build_id_column("question", columns.question),
        Column("grade", ("grade",), any_case=True),
        Column("expert", (EXPERT, "judge"), required=False, any_case=True),
        Column("settles", ("settles",), required=False, any_case=True),
    )
    if weighted:
        wanted += (Column(WEIGHT, (WEIGHT,), required=False, any_case=True),)
    table = open_table(path, wanted, problems)
    records = _read_grades(table, problems, scale)
    if not records and not problems.total:
        problems.add_code(None, None, "no_grade")
    problems.raise_if_any()
    return GradeFile(table.name, table.sha256, records)


def _build_id_column(key: str, name: str, *, required: bool = True) -> Column:
    """Return a column of ids; its default name matches in any case, other names exactly."""
    # A table of grades may have the question's id as `question`, and its text as `Question`.
    return Column(key, (name,), required=required, any_case=name == key, exactly_first=True)


def _read_grades(
    table: OpenTable, problems: Problems, scale: tuple[float, float] | None
) -> list[AnswerGrade]:
    """Return the valid grades of a table; bad rows are recorded in `problems` and left out."""
    records: list[AnswerGrade] = []
    seen: dict[tuple[str, tuple[str, str, str]], int] = {}
    weights: dict[tuple[str, str, str], tuple[int, float]] = {}
    for line, cells, _ in table.rows:
        worker, model, question, _, expert, settles = (clean_id(cell or "") for cell in cells[:6])
        grade = parse_grade(problems, line, cells[3] or "")
        if not question:
            problems.add_code(line, "question", "graded_question_missing")
        if bool(worker) == bool(model):
            problems.add_code(line, "worker", "grade_of_two" if worker else "grade_of_none")
        if settles not in ("", "0", "1"):
            problems.add_code(line, "settles", "settles_unreadable", cell=settles[:40])
        if grade is not None and scale is not None and not scale[0] <= grade <= scale[1]:
            problems.add_code(
                line, "grade", "grade_off_scale", grade=grade, low=scale[0], high=scale[1]
            )
            continue
        if not question or bool(worker) == bool(model) or grade is None:
            continue
        weight = _parse_weight(problems, line, cells[6] or "") if len(cells) > 6 else 1.0
        record = AnswerGrade(line, worker, model, question, expert, grade, settles == "1", weight)
        # The weight is the answer's, not the grade's: the rows of all its experts have to agree.
        weight_line, first_weight = weights.setdefault(record.answer, (line, weight))
        if first_weight != weight:
            problems.add_code(
                line,
                WEIGHT,
                "weight_differs",
                weight=weight,
                first_line=weight_line,
                given=first_weight,
            )
        first = seen.setdefault((expert, record.answer), line)
        if first != line:
            problems.add_code(
                line,
                None,
                "expert_graded_twice",
                name=worker or model,
                question=question,
                first_line=first,
                expert=EXPERT,
            )
            continue
        records.append(record)
    return records


def _parse_weight(problems: Problems, line: int, cell: str) -> float:
    """Parse a weight above 0; 1 if the cell is empty, or bad (then a problem is recorded)."""
    if not cell.strip():
        return 1.0
    try:
        weight = float(cell)
    except ValueError:
        weight = math.nan
    # NaN fails this comparison, too.
    if not 0 < weight < math.inf:
        problems.add_code(line, WEIGHT, "weight_unreadable", cell=cell[:40])
        return 1.0
    return weight


def refuse_unknown_answers(
    judgements: GradeFile, known: set[tuple[str, str, str]], answers: str
) -> None:
    """Raise `InputError` with each grade of an answer that is not in `known`, if any.

    These are (worker, model, question) of answers with a text; `answers` names their file.
    """
    unknown_grades = [
        Problem.from_code(
            judgements.name,
            record.line,
            None,
            "graded_answer_unknown",
            name=record.worker or record.model,
            question=record.question,
            answers=answers,
        )
        for record in judgements.records
        if record.answer not in known
    ]
    if unknown_grades:
        raise InputError(unknown_grades[:200], len(unknown_grades))
