"""Store and load the graded answers of a question set, from an uploaded file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from pydantic import TypeAdapter

from annotations.exchange import InputError
from annotations.exchange.graded import Labels, MarkedFile, read_marked
from annotations.exchange.reading.source import Source
from annotations.models import QuestionSet, QuestionSetVersion
from evaluation.core.messages.message import format_count
from evaluation.core.options import Problem, build_problem
from evaluation.models import GradedAnswers
from evaluation.models.graded_files import LONGEST_NAME
from evaluation.runs.flow.graded.options import GradedOptions

_MARKED = TypeAdapter(MarkedFile)
# Labels that are told of a file.
LISTED = 20


def store_graded_answers(question_set: QuestionSet, source: Source, uploaded_by: int) -> list[str]:
    """Store a set's file of graded answers, replacing an earlier one; return what was read.

    Workers become numbers, in the order in which they come.
    """
    marked = read_marked(source)
    # The stored file needs no names: only which answers are of one person.
    numbers = {name: str(n) for n, name in enumerate(_list_workers(marked), 1)}
    marked.answers = [
        replace(one, worker=numbers[one.worker]) if one.worker else one for one in marked.answers
    ]
    GradedAnswers.objects.update_or_create(
        question_set=question_set,
        defaults={
            "name": marked.name[:LONGEST_NAME],
            "sha256": marked.sha256,
            "marked": asdict(marked),
            "uploaded_by_id": uploaded_by,
        },
    )
    return [f"Read: {describe_file(marked)}.", *marked.warnings]


def load_graded_answers(question_set_id: int) -> MarkedFile | None:
    """Return the graded answers of a question set; None without an uploaded file."""
    kept = GradedAnswers.objects.filter(question_set_id=question_set_id)
    stored: Any = kept.values_list("marked", flat=True).first()
    return None if stored is None else _MARKED.validate_python(stored)


def describe_file(marked: MarkedFile) -> str:
    """Return a phrase that counts the answers, workers, questions and labels of a file."""
    n_workers = len(_list_workers(marked))
    whose = format_count(n_workers, "worker") if n_workers else "nobody knows whom"
    questions = len({one.question for one in marked.answers})
    return (
        f"{format_count(len(marked.answers), 'graded answer')} of {whose} to "
        f"{format_count(questions, 'question')}{''.join(_describe_labels(marked))}"
    )


def find_problems_at_start(
    version: QuestionSetVersion, _user: Any, options: GradedOptions
) -> list[Problem]:
    """Return the problems that prevent a run: no file, or a label without a value."""
    marked = load_graded_answers(version.question_set_id)
    if marked is None:
        return [build_problem("no_graded_answers")]
    try:
        marked.graded(Labels.parse(options.labels or ""))
    except InputError as error:
        reasons = "; ".join(one.reason for one in error.problems[:LISTED])
        return [build_problem("unknown_labels", "labels", reason=reasons)]
    return []


def _list_workers(marked: MarkedFile) -> dict[str, None]:
    return dict.fromkeys(one.worker for one in marked.answers if one.worker)


def _describe_labels(marked: MarkedFile) -> Iterator[str]:
    """Yield a phrase with the labels and their counts; nothing without labels."""
    if labels := marked.labels:
        told = ", ".join(f"{label[:40]} ({n:,})" for label, n in list(labels.items())[:LISTED])
        yield f", with the labels {told}"
