"""Deletion of a passage or question of a draft, with its dependent rows."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.editing.images import delete_unused_images
from annotations.models import Passage, Question, Translation, Variant


@dataclass(frozen=True, slots=True)
class DependentCount:
    """Number of rows of one kind that depend on an item; `holds` if they prevent its deletion."""

    count: int
    name: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.count:,} {self.name}"


def count_dependents(item: Passage | Question) -> list[DependentCount]:
    """Return the numbers of rows that depend on a passage or question, one entry for each kind.

    A passage is deleted with its questions, a question with its other wordings, both with their
    translations. Answers, model replies and results of runs prevent the deletion of a question.
    """
    keys = [item.pk]
    dependents = []
    if isinstance(item, Passage):
        keys = list(item.questions.values_list("pk", flat=True))
        if keys:
            dependents.append(
                DependentCount(len(keys), "question" if len(keys) == 1 else "questions", False)
            )
    for relation in Question._meta.related_objects:
        if not relation.one_to_many:
            continue
        model = relation.related_model
        rows = model._base_manager.filter(**{f"{relation.field.name}__in": keys})
        if count := rows.count():
            options = model._meta
            name = options.verbose_name if count == 1 else options.verbose_name_plural
            dependents.append(DependentCount(count, str(name), model not in (Variant, Translation)))
    return dependents


def delete_item(item: Passage | Question) -> list[DependentCount]:
    """Delete a passage or question and return []; if other rows prevent it, return their counts.

    The caller holds the lock of the question set.
    """
    holding = [row for row in count_dependents(item) if row.holds]
    if not holding:
        question_set = item.version.question_set_id
        if isinstance(item, Passage):
            # The foreign key restricts the deletion of a passage that has questions.
            item.questions.all().delete()
        item.delete()
        delete_unused_images(question_set)
    return holding
