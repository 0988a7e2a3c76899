"""Declare the known file layouts of graded answers: how to recognise each, and its columns.

The order matters: a table has the first layout that recognises it, else our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GradedLayout:
    """A known layout of files of graded answers: what identifies it and what its columns hold.

    Attributes
    ----------
    slug, title : name in summaries and name for people. source : publisher and publication.
    known_by : columns that a table of it has, in any case; empty for what is no such table.
    question, answer, worker : names that these columns may have, the preferred first.
    marks : columns of grades, all of them; the grade is the mean of those that are filled.
    grade : names that one column of grades or labels may have, where `marks` is empty.
    order : names of a column that numbers the attempts of a worker at a question.
    text, reference : names of columns with the question's wording and with a right answer to it.
    unmarked : cell values that mean "no grade", as an empty cell does.
    labels : the default grades of its labels.
    bare_quotes : whether its TSV has quotes that belong to the answers, so that a row is a line.
    student : finds the worker, and the number of the attempt, in the id of an answer.
    """

    slug: str
    title: str
    source: str
    known_by: tuple[str, ...] = ()
    question: tuple[str, ...] = ("question",)
    answer: tuple[str, ...] = ("answer",)
    worker: tuple[str, ...] = ("worker",)
    marks: tuple[str, ...] = ()
    grade: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    unmarked: frozenset[str] = frozenset()
    labels: Mapping[str, float] = field(default_factory=dict)
    bare_quotes: bool = False
    student: tuple[re.Pattern[str], ...] = ()


ASAP = GradedLayout(
    slug="asap-sas",
    title="ASAP short answers",
    source="The Hewlett Foundation: Short Answer Scoring, 2012; the second score is another "
    "rater's and was published to show how far they agree, so the first one is the grade",
    known_by=("EssaySet", "EssayText", "Score1"),
    question=("EssaySet",),
    answer=("EssayText",),
    worker=(),
    grade=("Score1",),
    bare_quotes=True,
)

POWERGRADING = GradedLayout(
    slug="powergrading",
    title="Powergrading",
    source="Basu, Jacobs and Vanderwende 2013: student, Q#, answer and the grades 0 and 1 of three "
    "graders; -1 for ungraded questions",
    known_by=("Q#", "G1", "G2", "G3"),
    question=("Q#",),
    answer=("answer",),
    worker=("student", "student id"),
    marks=("G1", "G2", "G3"),
    unmarked=frozenset({"-1"}),
    bare_quotes=True,
)

OWN = GradedLayout(
    slug="table",
    title="a table of graded answers",
    source="our own: question, answer, grade or label, worker where it is known",
    question=("question", "question id", "item", "prompt id"),
    answer=("answer", "student answer", "response", "text"),
    worker=("worker", "student", "student id", "worker id", "participant"),
    grade=("grade", "label", "score", "grade average", "accuracy"),
    order=("order", "attempt"),
    text=("question text", "prompt", "wording"),
    reference=("reference", "reference answer"),
)

SEMEVAL = GradedLayout(
    slug="semeval-2013-7",
    title="SemEval 2013 Task 7 (Beetle, SciEntsBank)",
    source="Dzikovska et al. 2013; labels in two, three or five ways, of which only correct is "
    "worth 1. The id of an answer ends in .STUDENT-lN.qaATTEMPT (Beetle); one that ends in two "
    "numbers (SciEntsBank) is taken for .STUDENT.ATTEMPT, which nothing confirms",
    labels={
        "correct": 1.0,
        "incorrect": 0.0,
        "contradictory": 0.0,
        "partially_correct_incomplete": 0.0,
        "irrelevant": 0.0,
        "non_domain": 0.0,
    },
    student=(
        re.compile(r"\.(?P<worker>[^.]+?)-l\d+\.qa(?P<order>\d+)$"),
        re.compile(r"\.(?P<worker>\d+)\.(?P<order>\d+)$"),
    ),
)

TABLES = (ASAP, POWERGRADING, OWN)
LAYOUTS = (SEMEVAL, *TABLES)


def get_graded_layout(slug: str) -> GradedLayout:
    """Return the layout of graded answers with this slug; KeyError for an unknown slug."""
    return {layout.slug: layout for layout in LAYOUTS}[slug]
