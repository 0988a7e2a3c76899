"""Records of graded answers, before and after their labels are converted to numeric grades."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from annotations.exchange.graded.labels import LabelGrades, normalise_label, parse_finite_number
from annotations.exchange.graded.layouts import get_graded_layout
from annotations.exchange.problems import InputError, Problem

OPTION = "--labels"
# Most labels that a message lists.
LISTED = 8


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """One answer with its graders' marks, which are numbers or labels as written in the file.

    `line` is where it begins. `worker` is "" where the file has none. `order` numbers the attempts
    of a worker at a question, None where the file has none.
    """

    line: int
    question: str
    text: str
    marks: tuple[str, ...]
    worker: str = ""
    order: int | None = None


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """One answer with its numeric grade, on the scale of its file; `worker` is "" if unknown."""

    question: str
    text: str
    grade: float
    worker: str


@dataclass(slots=True)
class MarkedFile:
    """The answers of a file with their graders' marks, at most one per worker and question.

    Attributes
    ----------
    name, sha256 : of the file. layout : slug of its layout.
    answers : all of them have a worker, or none has.
    asked, references : wordings and right answers by question, where the file has some.
    n_unmarked, n_empty : answers left out, as they have no grade or no text.
    n_repeated : left out, as the same worker answered the same question before.
    notes : further sentences for people.
    """

    name: str
    sha256: str = ""
    layout: str = ""
    answers: list[MarkedAnswer] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    n_unmarked: int = 0
    n_empty: int = 0
    n_repeated: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def has_workers(self) -> bool:
        """Whether the answers of the file have worker ids."""
        return bool(self.answers and self.answers[0].worker)

    @property
    def labels(self) -> dict[str, int]:
        """Number of times that each non-numeric mark occurs, the most frequent first."""
        counts = Counter(mark for answer in self.answers for mark in answer.marks)
        return {mark: n for mark, n in counts.most_common() if parse_finite_number(mark) is None}

    @property
    def warnings(self) -> list[str]:
        """Sentences on answers that were left out or cannot be compared with others."""
        return [*self.notes, *self._describe_left_out()]

    def _describe_left_out(self) -> Iterator[str]:
        """Yield a sentence for each reason why answers were left out or cannot be compared."""
        if self.n_unmarked:
            yield f"{_format_answer_count(self.n_unmarked)} without a grade left out."
        if self.n_empty:
            yield f"{_format_answer_count(self.n_empty)} without a text left out."
        if self.n_repeated:
            yield (
                f"{_format_answer_count(self.n_repeated)} left out: the worker had answered the "
                "question before, and the first attempt counts."
            )
        n_alone = sum(n == 1 for n in Counter(answer.question for answer in self.answers).values())
        if n_alone:
            have = "1 question has" if n_alone == 1 else f"{n_alone:,} questions have"
            yield f"{have} one graded answer only, with nothing to compare it with."

    def compute_grades(self, labels: LabelGrades | None = None) -> list[GradedAnswer]:
        """Return the answers with numeric grades, each the mean of the answer's marks.

        Raises `InputError` with a problem for each label without a value, at its first line.
        """
        grade_table = (labels or LabelGrades()).add_defaults(get_graded_layout(self.layout).labels)
        grades = {
            mark: grade_table.convert_mark(mark) for answer in self.answers for mark in answer.marks
        }
        if unknown := [mark for mark, grade in grades.items() if grade is None]:
            raise InputError(list(self._build_label_problems(unknown, grade_table)))
        return [
            GradedAnswer(
                answer.question,
                answer.text,
                # No grade is None here, which the type checker cannot know.
                sum(grades[mark] or 0.0 for mark in answer.marks) / len(answer.marks),
                answer.worker,
            )
            for answer in self.answers
        ]

    def _build_label_problems(
        self, unknown: list[str], grade_table: LabelGrades
    ) -> Iterator[Problem]:
        """Yield a problem for each label whose numeric grade is unknown."""
        wanted = {normalise_label(mark): mark for mark in unknown}
        known = [f"{label}={value:g}" for label, value in grade_table.values.items()]
        entries = [*known, *(f"{_shorten_mark(mark)}=..." for mark in wanted.values())]
        example = ",".join(entries[: LISTED + len(known)])
        option = f"{OPTION} {shlex.quote(example)}"
        counts = Counter(normalise_label(mark) for answer in self.answers for mark in answer.marks)
        first: dict[str, int] = {}
        for answer in self.answers:
            for mark in answer.marks:
                first.setdefault(normalise_label(mark), answer.line)
        for label, mark in wanted.items():
            code = "label_without_value" if counts[label] == 1 else "labels_without_value"
            yield Problem.from_code(
                self.name,
                first[label],
                "grade",
                code,
                label=_shorten_mark(mark),
                n=counts[label],
                said=example,
                option=option,
            )


def _format_answer_count(n: int) -> str:
    """Return a number of answers with a verb, such as "2 answers are"."""
    return "1 answer is" if n == 1 else f"{n:,} answers are"


def _shorten_mark(mark: str) -> str:
    """Return a mark, cut to 40 characters."""
    return mark if len(mark) <= 40 else f"{mark[:40]}..."
