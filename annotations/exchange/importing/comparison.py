"""Compare the answers of a file with the answers that are stored already."""

from __future__ import annotations

import json
from datetime import datetime

from annotations.exchange.importing.stage import Stage, StagedAnswer
from annotations.exchange.importing.target import BATCH, IDS, quote_beginning, split_in_chunks
from annotations.exchange.problems import Problem, Problems
from annotations.exchange.reading.answers import is_same_text
from annotations.models import COUNTERS, Response, Submission, Worker

NOT_COUNTED = (None,) * len(COUNTERS)


def refuse_withdrawn_workers(
    stage: Stage, workers: list[int], submissions: list[int], problems: Problems
) -> None:
    """Raise `InputError` with each worker who withdrew from this version or altogether, if any."""
    withdrawn: dict[int, datetime | None] = {}
    for chunk in split_in_chunks(workers, IDS):
        rows = Worker.objects.filter(pk__in=chunk, erased_at__isnull=False)
        withdrawn |= dict(rows.values_list("pk", "erased_at"))
    for chunk in split_in_chunks(submissions, IDS):
        withdrawn_submissions = Submission.objects.filter(pk__in=chunk, withdrawn_at__isnull=False)
        withdrawn |= dict(withdrawn_submissions.values_list("worker_id", "withdrawn_at"))
    for worker, staged in zip(workers, stage.workers, strict=True):
        if worker in withdrawn:
            problems.add_code(
                staged.line,
                "worker",
                "worker_erased",
                worker=staged.name,
                since=f"{withdrawn[worker]:%Y-%m-%d}",
            )
    problems.raise_if_any()


def compare_with_stored_answers(
    stage: Stage,
    keys: list[int],
    old_numbers: dict[int, int],
    problems: Problems,
    *,
    update_flags: bool,
) -> None:
    """Mark a file's answers that are stored already; record those that differ as problems.

    Answers that were compared before the lock are not read again. One that was changed or deleted
    since then counts as changed after the import: the import writes nothing that depends on it.
    """
    places = {key: number for number, key in enumerate(keys)}
    names = list(stage.questions)
    for chunk in split_in_chunks(old_numbers, IDS):
        responses = Response.objects.filter(submission__in=chunk)
        # Keys grow: answers up to this key were compared before the lock.
        if stage.compared_to is not None:
            responses = responses.filter(pk__gt=stage.compared_to)
        stored = responses.values_list(
            *("submission_id", "question_id", "text", "created_at", "pk"),
            *("rejected", "started_at", "submitted_at", "first_draft_at", "work_seconds"),
            *("language", "signals", *COUNTERS),
        )
        rows = []
        differences = []
        for submission, question, text, since, key, is_rejected, *facts in stored.iterator(BATCH):
            worker, place = old_numbers[submission], places.get(question)
            staged = None if place is None else stage.find_answer(worker, place)
            if staged is None or place is None:
                continue
            rows.append(staged.row)
            what = _find_difference(staged, text, is_rejected, facts)
            if what == "flag" and update_flags:
                stage.reflagged[bool(staged.rejected)].add(key)
                continue
            if what:
                differences.append(
                    Problem.from_code(
                        problems.file,
                        staged.line,
                        None,
                        "stored_flag_differs" if what == "flag" else "stored_answer_differs",
                        worker=stage.workers[worker].name,
                        question=names[place],
                        since=f"{since:%Y-%m-%d}",
                        text=quote_beginning(text),
                        what=what,
                    )
                )
        # In the order of the file: the database returns rows in the order of an index.
        problems.extend(sorted(differences, key=lambda one: (one.line or 0, one.reason)))
        stage.mark_as_stored(rows)


def _find_difference(
    staged: StagedAnswer, text: str, rejected: bool, stored: list[datetime | float | str | None]
) -> str:
    """Return what differs between a file's and a stored answer, such as "text"; "" if nothing."""
    if not is_same_text(text, staged.text):
        return "text"
    times = (
        parse_staged_time(staged.started),
        parse_staged_time(staged.submitted),
        parse_staged_time(staged.first_draft),
    )
    staged_facts = (*times, staged.seconds)
    if any(
        new is not None and new != old for new, old in zip(staged_facts, stored[:4], strict=True)
    ):
        return "time"
    if staged.language is not None and staged.language != stored[4]:
        return "language"
    if staged.signals is not None and [*list_signal_values(staged)] != stored[5:]:
        return "count of how it was written"
    # An ordinary file says nothing about flags, and then nothing is rejected in it.
    if staged.rejected is not None and bool(staged.rejected) != rejected:
        return "flag"
    return ""


def parse_staged_time(text: str | None) -> datetime | None:
    """Parse the ISO 8601 time of an answer in a stage; None if it has none."""
    return None if text is None else datetime.fromisoformat(text)


def list_signal_values(staged: StagedAnswer) -> tuple[str | int | None, ...]:
    """Return state and counts of an answer's writing signals; "" and None if not recorded."""
    if staged.signals is None:
        return ("", *NOT_COUNTED)
    state, *counts = json.loads(staged.signals)
    return (state, *(counts or NOT_COUNTED))
