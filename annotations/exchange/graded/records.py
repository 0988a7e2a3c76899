"""What a file of graded answers says, before and after its labels have values."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from annotations.exchange.graded.labels import Labels, number_in, plain
from annotations.exchange.graded.layouts import layout_of
from annotations.exchange.problems import InputError, Problem

OPTION = "--labels"
# Labels that a message lists.
LISTED = 8


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer with the marks that its graders gave: numbers or labels, as written.

    `line` is where it begins. `worker` is "" where the file does not say who gave it. `order`
    numbers the attempts of a worker at a question, None where the file does not.
    """

    line: int
    question: str
    text: str
    marks: tuple[str, ...]
    worker: str = ""
    order: int | None = None


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """An answer and its grade, on the scale of its file; `worker` is "" where nobody knows."""

    question: str
    text: str
    grade: float
    worker: str


@dataclass(slots=True)
class MarkedFile:
    """Marked answers in the order of the file; at most one of a worker to a question.

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
        """Whether it says who gave the answers."""
        return bool(self.answers and self.answers[0].worker)

    @property
    def labels(self) -> dict[str, int]:
        """How often each label occurs that is no number, the most frequent first."""
        found = Counter(mark for one in self.answers for mark in one.marks)
        return {mark: n for mark, n in found.most_common() if number_in(mark) is None}

    @property
    def warnings(self) -> list[str]:
        """What to know before trusting what comes of it, a sentence each."""
        return [*self.notes, *self._left_out()]

    def _left_out(self) -> Iterator[str]:
        if self.n_unmarked:
            yield f"{_answers(self.n_unmarked)} without a grade left out."
        if self.n_empty:
            yield f"{_answers(self.n_empty)} without a text left out."
        if self.n_repeated:
            yield (
                f"{_answers(self.n_repeated)} left out: the worker had answered the question "
                "before, and the first attempt counts."
            )
        alone = sum(n == 1 for n in Counter(one.question for one in self.answers).values())
        if alone:
            have = "1 question has" if alone == 1 else f"{alone:,} questions have"
            yield f"{have} one graded answer only, with nothing to compare it with."

    def graded(self, labels: Labels | None = None) -> list[GradedAnswer]:
        """Return the answers with their grades: the mean of what their marks are worth.

        Raises `InputError` with a problem for each label without a value, where it comes first.
        """
        worth = (labels or Labels()).over(layout_of(self.layout).labels)
        grades = {mark: worth.grade(mark) for one in self.answers for mark in one.marks}
        if unknown := [mark for mark, grade in grades.items() if grade is None]:
            raise InputError(list(self._unknown(unknown, worth)))
        return [
            GradedAnswer(
                one.question,
                one.text,
                sum(grades[mark] or 0.0 for mark in one.marks) / len(one.marks),
                one.worker,
            )
            for one in self.answers
        ]

    def _unknown(self, unknown: list[str], worth: Labels) -> Iterator[Problem]:
        """Yield a problem for each label without a value."""
        wanted = {plain(mark): mark for mark in unknown}
        known = [f"{label}={value:g}" for label, value in worth.values.items()]
        entries = [*known, *(f"{_shown(mark)}=..." for mark in wanted.values())]
        said = ",".join(entries[: LISTED + len(known)])
        option = f"{OPTION} {shlex.quote(said)}"
        times = Counter(plain(mark) for one in self.answers for mark in one.marks)
        first: dict[str, int] = {}
        for one in self.answers:
            for mark in one.marks:
                first.setdefault(plain(mark), one.line)
        for label, mark in wanted.items():
            often = "label_without_value" if times[label] == 1 else "labels_without_value"
            yield Problem.from_code(
                self.name,
                first[label],
                "grade",
                often,
                label=_shown(mark),
                n=times[label],
                said=said,
                option=option,
            )


def _answers(n: int) -> str:
    return "1 answer is" if n == 1 else f"{n:,} answers are"


def _shown(mark: str) -> str:
    return mark if len(mark) <= 40 else f"{mark[:40]}..."
