"""Notes about a language model."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.web.notes import check_note_rights, create_note, delete_note
from annotations.web.scope import get_visible_or_404
from evaluation.language_models.views.model_form import NoteForm
from evaluation.language_models.views.models import shown_model
from evaluation.models import LanguageModel


@require_POST
def add_note(request: HttpRequest, model_id: UUID) -> HttpResponse:
    """Add a note about a model."""
    noted = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
    check_note_rights(request, noted)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return shown_model(request, noted, note=form, status=400)
    create_note(request, noted, form.cleaned_data["text"])
    messages.success(request, "The note is kept.")
    return _back(model_id)


@require_POST
def remove_note(request: HttpRequest, model_id: UUID, model_note_id: UUID) -> HttpResponse:
    """Delete one's own note about a model."""
    noted = get_visible_or_404(request, LanguageModel.objects.all(), model_id)
    delete_note(request, noted, model_note_id)
    messages.success(request, "The note is gone.")
    return _back(model_id)


def _back(model_id: UUID) -> HttpResponse:
    return redirect(reverse("admin:model", args=[model_id]) + "#notes")
