"""Answers of a file beside those that are stored already."""

from __future__ import annotations

import json
from datetime import datetime

from annotations.exchange.importing.stage import Stage, StagedAnswer
from annotations.exchange.importing.target import BATCH, IDS, chunks, quoted
from annotations.exchange.problems import Problem, Problems
from annotations.exchange.reading.answers import same_text
from annotations.models import COUNTERS, Response, Submission, Worker

NOT_COUNTED = (None,) * len(COUNTERS)


def refuse_erased(
    stage: Stage, workers: list[int], submissions: list[int], problems: Problems
) -> None:
    """Note who took their answers back, from all sets or from this version: they stay away."""
    gone: dict[int, datetime | None] = {}
    for some in chunks(workers, IDS):
        rows = Worker.objects.filter(pk__in=some, erased_at__isnull=False)
        gone |= dict(rows.values_list("pk", "erased_at"))
    for some in chunks(submissions, IDS):
        back = Submission.objects.filter(pk__in=some, withdrawn_at__isnull=False)
        gone |= dict(back.values_list("worker_id", "withdrawn_at"))
    for worker, staged in zip(workers, stage.workers, strict=True):
        if worker in gone:
            problems.add_code(
                staged.line,
                "worker",
                "worker_erased",
                worker=staged.name,
                since=f"{gone[worker]:%Y-%m-%d}",
            )
    problems.raise_if_any()


def compare(
    stage: Stage, keys: list[int], old: dict[int, int], problems: Problems, *, update_flags: bool
) -> None:
    """Mark what is stored already, and note what contradicts it.

    What was compared ahead is not read again. Was it changed or deleted since, that happened
    after the import: it writes nothing that hangs on it.
    """
    places = {key: number for number, key in enumerate(keys)}
    names = list(stage.questions)
    for some in chunks(old, IDS):
        there = Response.objects.filter(submission__in=some)
        if stage.compared_to is not None:
            there = there.filter(pk__gt=stage.compared_to)
        stored = there.values_list(
            *("submission_id", "question_id", "text", "created_at", "pk"),
            *("rejected", "started_at", "submitted_at", "first_draft_at", "work_seconds"),
            *("language", "signals", *COUNTERS),
        )
        rows = []
        others = []
        for submission, question, text, since, key, flag, *facts in stored.iterator(BATCH):
            worker, place = old[submission], places.get(question)
            staged = None if place is None else stage.find(worker, place)
            if staged is None or place is None:
                continue
            rows.append(staged.row)
            what = _difference(staged, text, flag, facts)
            if what == "flag" and update_flags:
                stage.reflagged[bool(staged.rejected)].add(key)
                continue
            if what:
                others.append(
                    Problem.from_code(
                        problems.file,
                        staged.line,
                        None,
                        "stored_flag_differs" if what == "flag" else "stored_answer_differs",
                        worker=stage.workers[worker].name,
                        question=names[place],
                        since=f"{since:%Y-%m-%d}",
                        text=quoted(text),
                        what=what,
                    )
                )
        # As they stand in the file: a database gives rows in whatever order an index has them.
        problems.extend(sorted(others, key=lambda one: (one.line or 0, one.reason)))
        stage.mark_old(rows)


def _difference(
    staged: StagedAnswer, text: str, rejected: bool, stored: list[datetime | float | str | None]
) -> str:
    """In what a file contradicts a stored answer; what it does not say contradicts nothing."""
    if not same_text(text, staged.text):
        return "text"
    times = (time_of(staged.started), time_of(staged.submitted), time_of(staged.first_draft))
    given = (*times, staged.seconds)
    if any(new is not None and new != old for new, old in zip(given, stored[:4], strict=True)):
        return "time"
    if staged.language is not None and staged.language != stored[4]:
        return "language"
    if staged.signals is not None and [*signals_of(staged)] != stored[5:]:
        return "count of how it was written"
    # An ordinary file says nothing about flags, and then nothing is rejected in it.
    if staged.rejected is not None and bool(staged.rejected) != rejected:
        return "flag"
    return ""


def time_of(written: str | None) -> datetime | None:
    """Return a time as it was written down."""
    return None if written is None else datetime.fromisoformat(written)


def signals_of(staged: StagedAnswer) -> tuple[str | int | None, ...]:
    """Return the columns from `signals` on."""
    if staged.signals is None:
        return ("", *NOT_COUNTED)
    said, *counts = json.loads(staged.signals)
    return (said, *(counts or NOT_COUNTED))
