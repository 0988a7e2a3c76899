"""What was accepted, as problems of UMWP: pairs of an original and what was made of it."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from annotations.exchange.reading.word_problems import WordProblem, as_umwp
from annotations.models import Question, WritingProject
from annotations.writing.projects import State


def accepted(project: WritingProject) -> Iterator[dict[str, Any]]:
    """Yield the originals of which a problem was accepted, then these problems, in their order.

    A problem names its original in `relevant_ids` and has its source.
    """
    written = list(
        project.problems.filter(state=State.ACCEPTED)
        .select_related("original")
        .order_by("original__position", "original__pk", "number")
    )
    originals = {one.original_id: one.original for one in written}
    for question in originals.values():
        yield as_umwp(
            WordProblem(
                question.external_id,
                question.text,
                numbers_of(question),
                True,
                None,
                (),
                _source(question),
                0,
            )
        )
    for one in written:
        yield as_umwp(
            WordProblem(
                one.external_id,
                one.text,
                (),
                False,
                one.category,
                (one.original.external_id,),
                _source(one.original),
                0,
            )
        )


def numbers_of(question: Question) -> tuple[float, ...]:
    """Return the accepted answers of a question that are numbers, "1,250" as 1250."""
    found = []
    for answer in question.accepted_answers:
        for one in answer if isinstance(answer, list) else [answer]:
            try:
                number = float(str(one).replace(",", ""))
            except ValueError:
                continue
            if isfinite(number):
                found.append(number)
    return tuple(dict.fromkeys(found))


def _source(question: Question) -> str:
    source = question.metadata.get("source", "")
    return source if isinstance(source, str) else str(source)
