"""Everything that waits for somebody's judgement, set by set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from annotations.models import QuestionSet
from evaluation.judging.tasks import (
    Declared,
    Progress,
    Row,
    asked_of,
    declared_by,
    is_asked,
    progress_of,
)

_OF_SET = Coalesce(
    "response__submission__version__question_set",
    "llm_response__question__version__question_set",
    "exhibit__run__version__question_set",
)


@dataclass(frozen=True)
class Waiting:
    """What somebody is asked to judge of one set, on one scale."""

    question_set: QuestionSet
    declared: Declared
    progress: Progress


def inbox(sets: QuerySet[QuestionSet], expert: int, *, known: bool = False) -> list[Waiting]:
    """Return what an expert was asked of some sets, by three queries.

    What has something left comes first, then the newest set. `known` to be asked, it is two.
    """
    if not (known or is_asked(expert)):
        return []
    rows: dict[tuple[int, Declared], list[Row]] = {}
    asked = asked_of(expert, sets).annotate(set=_OF_SET).order_by("place", "pk")
    for of_set, task, done, kind, name in asked.values_list(
        "set", "public_id", "is_done", "exhibit__run__kind", "exhibit__judging"
    ):
        declared = declared_by(kind, name)
        rows.setdefault((of_set, declared), []).append(Row(task, done, declared))
    found = QuestionSet.objects.defer("description", "notice").in_bulk({key for key, _ in rows})
    waiting = [
        Waiting(found[key], declared, progress_of(mine)) for (key, declared), mine in rows.items()
    ]
    return sorted(
        waiting, key=lambda one: (one.progress.next is None, -one.question_set.pk, one.declared)
    )


def of_sets(waiting: Iterable[Waiting]) -> dict[int, Progress]:
    """Return the progress with everything of each set, by its primary key."""
    found: dict[int, Progress] = {}
    for one in waiting:
        known = found.get(one.question_set.pk, Progress(0, 0, None, None))
        found[one.question_set.pk] = Progress(
            known.total + one.progress.total,
            known.done + one.progress.done,
            known.next or one.progress.next,
            known.first or one.progress.first,
        )
    return found
