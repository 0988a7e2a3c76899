"""Start page and results page of a method comparison on graded answers."""

from __future__ import annotations

from collections.abc import Mapping

from annotations.exchange.graded import ACCEPTED
from annotations.exchange.reading.source import Source
from annotations.models import QuestionSet, QuestionSetVersion
from evaluation.models import Run
from evaluation.runs.reports.graded import build_graded_report
from evaluation.runs.run_types.kind import DataReadiness, Page, Start, StartFile
from evaluation.runs.steps.answers import (
    describe_graded_answers,
    load_graded_answers,
    store_graded_answers,
)

PAGES = (
    Page(
        "",
        "Which method to trust",
        "evaluation/graded.html",
        lambda run: {"report": build_graded_report(run)},
    ),
)


def format_run(run: Run) -> str:
    """Return the verdict of a finished run as lines for the terminal."""
    report = build_graded_report(run)
    return "\n".join([report.said, *report.more])


def describe_stored_file(version: QuestionSetVersion | None) -> DataReadiness:
    """Return the start page's line on the set's graded answers; not ready without any."""
    marked = None if version is None else load_graded_answers(version.question_set_id)
    if marked is None:
        return DataReadiness("There are no graded answers yet: upload some first.", ready=False)
    return DataReadiness(f"{marked.name}: {describe_graded_answers(marked)}.")


def store_upload(
    question_set: QuestionSet, source: Source, _switches: Mapping[str, bool], uploaded_by: int
) -> tuple[str, ...]:
    """Store a file of graded answers for a question set. Raises `InputError`."""
    return tuple(store_graded_answers(question_set, source, uploaded_by))


START = Start(
    words="The best method depends on what people write about: graded answers of your own domain "
    "decide. They need not be answers to questions of this set; some hundred are enough to begin.",
    before=describe_stored_file,
    files=(
        StartFile(
            name="graded",
            title="Upload graded answers",
            words="A table with the columns question, answer and grade (or label), and worker if "
            "you know who gave them; or the files of SemEval 2013 Task 7 (XML, several as ZIP), "
            "ASAP short answers or Powergrading. It takes the place of an earlier upload. Ids of "
            "workers are not stored.",
            take=store_upload,
            accept=ACCEPTED,
        ),
    ),
)
