"""Notes about a language model: who writes them, and those that somebody may read."""

from __future__ import annotations

from annotations.models import QuestionSet
from annotations.models.access import Anybody
from evaluation.models import LanguageModel, LanguageModelNote
from evaluation.reports.across.worker import NoteEntry


def may_note_model(user: Anybody, model: LanguageModel) -> bool:
    """Return whether a user who sees a model may write notes.

    The owner, and who may change a set that it answered in.
    """
    if LanguageModel.objects.editable_by(user).filter(pk=model.pk).exists():
        return True
    sets = QuestionSet.objects.editable_by(user)
    return model.responses.filter(question__version__question_set__in=sets).exists()


def model_notes(user: Anybody, model: LanguageModel) -> list[NoteEntry]:
    """Return the notes about a model that a user may read, newest first."""
    rows = LanguageModelNote.objects.visible_to(user).filter(model=model)
    return [
        NoteEntry(
            id=note.public_id,
            text=note.text,
            author=note.author.get_username(),
            written_at=note.created_at,
            mine=note.author_id == user.pk,
        )
        for note in rows.select_related("author").order_by("-pk")
    ]
