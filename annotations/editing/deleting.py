"""Taking a passage or a question out of a draft, and what hangs on it."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.editing.images import sweep_images
from annotations.models import Passage, Question, Translation, Variant


@dataclass(frozen=True, slots=True)
class Hanging:
    """How many rows of a kind hang on an item; while one `holds` it, it cannot be deleted."""

    count: int
    name: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.count:,} {self.name}"


def hanging(item: Passage | Question) -> list[Hanging]:
    """Return what hangs on an item.

    A passage goes with its questions, a question with its other wordings; both with
    their translations. Whatever somebody
    answered, wrote or computed about a question (answers, models' answers, results of runs) keeps
    it from going.
    """
    keys = [item.pk]
    found = []
    if isinstance(item, Passage):
        keys = list(item.questions.values_list("pk", flat=True))
        if keys:
            found.append(Hanging(len(keys), "question" if len(keys) == 1 else "questions", False))
    for relation in Question._meta.related_objects:
        if not relation.one_to_many:
            continue
        model = relation.related_model
        rows = model._base_manager.filter(**{f"{relation.field.name}__in": keys})
        if count := rows.count():
            about = model._meta
            name = about.verbose_name if count == 1 else about.verbose_name_plural
            found.append(Hanging(count, str(name), model not in (Variant, Translation)))
    return found


def delete_item(item: Passage | Question) -> list[Hanging]:
    """Delete an item of a draft; returns what held it, and then nothing was deleted.

    The set is locked by whoever calls this.
    """
    held = [one for one in hanging(item) if one.holds]
    if not held:
        question_set = item.version.question_set_id
        if isinstance(item, Passage):
            item.questions.all().delete()
        item.delete()
        sweep_images(question_set)
    return held
