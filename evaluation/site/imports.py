"""The imports of a question set, and undoing one of them."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import rights
from annotations.web.pages import NEWEST_FIRST, breadcrumbs, page_of
from annotations.web.scope import answered_set, editable, user_id
from annotations.web.texts import with_code
from evaluation.background import undoing
from evaluation.background.liveness import HOW_TO_START, somebody_listens
from evaluation.background.record import known
from evaluation.models import Removal
from evaluation.reports.imports import imports_of, n_without_import, shown_imports

WARNING = (
    "All of this goes, and only the file can bring them back. That you undid it, when, and these "
    "counts are kept."
)


def imports(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """List the files that came in, newest first, with what is left of each."""
    shown = answered_set(request, set_id)
    page = page_of(request, imports_of(shown), NEWEST_FIRST)
    rows = shown_imports(page)
    ids = imports_of(shown).values("public_id")
    going = list(Removal.objects.filter(kind=undoing.IMPORT, finished_at=None, target_id__in=ids))
    context = {
        "title": "Imported files",
        "subtitle": "The files that came into this question set. Each can be undone.",
        "breadcrumbs": breadcrumbs(shown),
        "question_set": shown,
        "rights": rights(request.user, shown),
        "page": page,
        "rows": rows,
        "removals": going,
        "waiting": with_code(HOW_TO_START) if going and not somebody_listens() else "",
        "n_without": n_without_import(shown),
    }
    return TemplateResponse(request, "admin/removing/imports.html", context)


def undo_import(request: HttpRequest, set_id: UUID, import_id: UUID) -> HttpResponse:
    """Tell what goes with an import, and undo it after a yes."""
    shown = answered_set(request, set_id)
    brought = editable(request, imports_of(shown), import_id)
    back = reverse("admin:imports", args=[shown.public_id])
    if known(undoing.IMPORT, brought) is not None:
        messages.info(request, f"{brought.file} was undone before, or is being undone.")
        return redirect(back)
    hanging = undoing.hanging_on_import(brought)
    if request.method == "POST" and hanging.can_go:
        undoing.undo(brought, user_id(request))
        messages.success(request, f"{brought.file} is being undone.")
        return redirect(back)
    context = {
        "title": f"Undo the import of {brought.file}?",
        "breadcrumbs": [*breadcrumbs(shown), ("Imported files", back)],
        "hanging": hanging,
        "back": back,
        "button": "Undo this import",
        "warning": WARNING,
        "cannot": "It cannot be undone.",
    }
    return TemplateResponse(request, "admin/removing/delete.html", context)
