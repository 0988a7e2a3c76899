"""Export of accepted problems and their original questions in UMWP format."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from annotations.exchange.reading.word_problems import WordProblem, convert_to_umwp
from annotations.models import Question, WritingProject
from annotations.writing.projects import State


def export_accepted_problems(project: WritingProject) -> Iterator[dict[str, Any]]:
    """Yield the accepted problems as UMWP records, after their original questions.

    Both are in the order of the originals. A problem names its original in `relevant_ids` and
    copies its source.
    """
    problems = list(
        project.problems.filter(state=State.ACCEPTED)
        .select_related("original")
        .order_by("original__position", "original__pk", "number")
    )
    originals = {problem.original_id: problem.original for problem in problems}
    for question in originals.values():
        yield convert_to_umwp(
            WordProblem(
                question.external_id,
                question.text,
                list_accepted_numbers(question),
                True,
                None,
                (),
                _read_source(question),
                0,
            )
        )
    for problem in problems:
        yield convert_to_umwp(
            WordProblem(
                problem.external_id,
                problem.text,
                (),
                False,
                problem.category,
                (problem.original.external_id,),
                _read_source(problem.original),
                0,
            )
        )


def list_accepted_numbers(question: Question) -> tuple[float, ...]:
    """Return the distinct accepted answers of a question that are numbers ("1,250" is 1250)."""
    numbers = []
    for answer in question.accepted_answers:
        for variant in answer if isinstance(answer, list) else [answer]:
            try:
                number = float(str(variant).replace(",", ""))
            except ValueError:
                continue
            if isfinite(number):  # `float` also reads "nan" and "inf"
                numbers.append(number)
    return tuple(dict.fromkeys(numbers))


def _read_source(question: Question) -> str:
    """Return the entry "source" of a question's metadata as text; "" if there is none."""
    source = question.metadata.get("source", "")
    return source if isinstance(source, str) else str(source)
