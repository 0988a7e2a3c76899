"""List everything that an expert is asked to judge, by question set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from annotations.models import QuestionSet
from evaluation.runs.judging.tasks import (
    JudgingKey,
    Progress,
    Row,
    build_judging_key,
    compute_progress,
    is_asked,
    select_requests,
)

_OF_SET = Coalesce(
    "response__submission__version__question_set",
    "llm_response__question__version__question_set",
    "exhibit__run__version__question_set",
)


@dataclass(frozen=True)
class InboxEntry:
    """What an expert is asked to judge in one question set on one scale, and the progress."""

    question_set: QuestionSet
    declared: JudgingKey
    progress: Progress


def load_inbox(
    sets: QuerySet[QuestionSet], expert: int, *, known: bool = False
) -> list[InboxEntry]:
    """Return what an expert is asked to judge in some sets, unfinished first; three queries.

    What has something left comes first, then the newest set. `known` to be asked, it is two.
    """
    if not (known or is_asked(expert)):
        return []
    rows: dict[tuple[int, JudgingKey], list[Row]] = {}
    request_rows = select_requests(expert, sets).annotate(set=_OF_SET).order_by("place", "pk")
    for of_set, task, done, kind, name in request_rows.values_list(
        "set", "public_id", "is_done", "exhibit__run__kind", "exhibit__judging"
    ):
        declared = build_judging_key(kind, name)
        rows.setdefault((of_set, declared), []).append(Row(task, done, declared))
    sets_by_key = QuestionSet.objects.defer("description", "notice").in_bulk(
        {key for key, _ in rows}
    )
    waiting = [
        InboxEntry(sets_by_key[key], declared, compute_progress(mine))
        for (key, declared), mine in rows.items()
    ]
    return sorted(
        waiting, key=lambda one: (one.progress.next is None, -one.question_set.pk, one.declared)
    )


def sum_by_set(waiting: Iterable[InboxEntry]) -> dict[int, Progress]:
    """Return the expert's progress in each set, over all scales, by the set's primary key."""
    progress_by_set: dict[int, Progress] = {}
    for one in waiting:
        known = progress_by_set.get(one.question_set.pk, Progress(0, 0, None, None))
        progress_by_set[one.question_set.pk] = Progress(
            known.total + one.progress.total,
            known.done + one.progress.done,
            known.next or one.progress.next,
            known.first or one.progress.first,
        )
    return progress_by_set
